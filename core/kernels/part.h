// What a kernel tells of itself so that it can be run within a group: a loop over n elements in C order, or a reduction of them.
#pragma once
#include "array/array.h"
#include "kernels/elementwise.h"
#include "kernels/loop.h"

namespace forerun {

class Fold;

struct Part {
  struct Operand {
    int access = -1;                 // number of the op's access; none: a scalar
    const Scalar* scalar = nullptr;  // lives as long as the kernel
    int64_t offset = 0;              // of the first element, in its storage
    DType dtype = DType::f32, loop_dtype = DType::f32;  // in memory, and as the loop wants it
    bool dense = true;               // n elements, one after the other; else: element by element of `shape`, by `strides`
    const Dims *shape = nullptr, *strides = nullptr;  // live as long as the kernel
  };
  Loop loop;
  int n_in = 0, n = 0;        // operands: inputs, then outputs
  int64_t elements = 0;       // of the space that is walked
  Operand operand[Nest::kMaxOperands];
  const Fold* fold = nullptr;  // a reduction: one dense input, one dense output
};

// A kernel that can be a part of a group.
class Fusible : public Kernel {
 public:
  bool droppable() const override { return true; }
  bool fusible() const override { return true; }
  Group* new_group(Op& op) const override;
  // False: not as it is.
  virtual bool part(Part& part) const = 0;
};

}  // namespace forerun
