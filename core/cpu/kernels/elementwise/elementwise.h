// Element-wise operations: an inner loop over tiles of one iteration space, with casts of inputs and outputs.
#pragma once
#include <initializer_list>

#include "array/array.h"
#include "array/iteration_space.h"
#include "cpu/kernels/scalar.h"
#include "cpu/loops/loop.h"

namespace forerun {

// One input or output of an element-wise op: an array, or a scalar.
struct Operand {
  const Array* array = nullptr;
  Scalar scalar;  // if there is no array
};

// The position of such an operand in a kernel.
struct OperandPlace {
  int access = -1;  // of the op; -1: a scalar
  int64_t offset = 0;
  DType dtype, loop_dtype;  // in memory, and as the loop needs it
  Scalar scalar{};
};

// Fills `op` so that it computes loop(inputs...) -> outputs. `types` are the loop's dtypes, inputs then outputs;
// operands of another dtype are cast tile by tile. All outputs have the same shape, to which every input broadcasts.
// `name` must outlive the op (it is interned by the caller).
void build_elementwise(Op& op, const char* name, Loop loop, const DType* types, const Operand* inputs, int n_in,
                       const Array* const* outputs, int n_out);

// The same for the most frequent case: dense arrays of one shape and the loop's dtypes or scalars, and one new output.
void build_elementwise_dense(Op& op, const char* name, Loop loop, const DType* types, const Operand* inputs, int n_in,
                             const Array& out);

// Describes the operands of such an op, inputs before outputs, and the attribute `types` (device/op_spec.h).
void describe_operands(OpSpec& spec, const IterationSpace& nest, const OperandPlace* operands, int n_in, int n);
void describe_operands(BriefSpec& brief, const IterationSpace& nest, const OperandPlace* operands, int n_in, int n);
// Describes the values that a loop rejects. False: its checks are not known.
bool describe_checks(OpSpec& spec, const Loop& loop);

}  // namespace forerun
