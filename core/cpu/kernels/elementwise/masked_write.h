// Ops that write the elements under a mask and no others.
#pragma once
#include "array/array.h"
#include "array/iteration_space.h"
#include "cpu/kernels/elementwise/elementwise.h"

namespace forerun {

// Most operands of a loop that runs under a mask, inputs and outputs.
inline constexpr int kMaxMasked = IterationSpace::kMaxOperands - 1;

// Fills `op` so that it computes loop(inputs...) -> outputs where `mask`, an array of bools, holds. As for
// build_elementwise: inputs and mask broadcast to the shape that all outputs have, operands of other dtypes than
// `types` are cast, `name` outlives the op. A loop without a function copies its one input.
void build_masked(Op& op, const char* name, Loop loop, const DType* types, const Operand* inputs, int n_in,
                  const Array* const* outputs, int n_out, const Array& mask);

// How values are assigned to the elements under a mask.
enum class Placing {
  each,      // one for each element under the mask, in C order; Error(value) if their number differs
  in_turn,   // the same, repeated from the first one on; Error(value) if there are no values and the mask is true
             // somewhere
  in_place,  // one for each element whether it is under the mask or not, in C order; repeated from the first one on
};

// to[mask] = values, in C order. mask: to's shape; values: a vector of to's dtype. Errors come before the first write,
// and name `op_name`, which outlives the op.
void build_place(Op& op, const Array& to, const Array& mask, const Array& values, Placing placing, const char* op_name);

}  // namespace forerun
