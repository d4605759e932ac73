// The properties of a kernel that let it run within a group: a loop over n elements in C order, a reduction of them, or
// a concatenation that produces them.
#pragma once
#include <vector>

#include "array/array.h"
#include "array/iteration_space.h"
#include "cpu/kernels/scalar.h"
#include "cpu/loops/loop.h"

namespace forerun {

class BlockedReduction;

struct FusibleOperands {
  struct Operand {
    int access;                  // number of the op's access; -1: a scalar
    const Scalar* scalar;        // of a scalar; lives as long as the kernel
    int64_t offset;              // of the first element, in its storage
    DType dtype, loop_dtype;     // in memory, and as the loop needs it
    const IterationSpace* nest;  // null: consecutive elements; otherwise they are traversed by the nest,
    int place;                   // of which it is this operand
  };
  Loop loop;
  int n_in = 0, n = 0;                            // operands: inputs, then outputs
  int64_t elements = 0;                           // of the space that is traversed
  const BlockedReduction* fold = nullptr;         // a reduction: one dense input, one dense output
  const std::vector<Piece>* pieces = nullptr;     // a concatenation: no loop, one piece of each input, a dense output
  Operand operand[IterationSpace::kMaxOperands];  // the first n; not initialised
};

// A kernel that can be a part of a group.
class Fusible : public Kernel {
 public:
  bool droppable() const override { return true; }
  bool fusible() const override { return true; }
  FusedGroup* new_group(Op& op) const override;
  // False: it cannot be fused in its present form.
  virtual bool fusible_operands(FusibleOperands& part) const = 0;
};

// Kernel::may_share of an element-wise kernel: both are traversed element by element, from the first byte to the last.
bool may_share_operands(const Fusible& kernel, Op& op, const Storage* in, const Storage* out);

}  // namespace forerun
