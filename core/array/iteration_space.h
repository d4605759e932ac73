// How loops traverse the elements of several operands.
#pragma once
#include "array/layout.h"

namespace forerun {

// The loop nest over one iteration space for several operands, merged and ordered so that the innermost axis is long
// and the last operand (the output) is traversed in memory order. Axes of extent 1 are removed; ndim >= 1.
struct IterationSpace {
  static constexpr int kMaxOperands = 6;
  Dims shape;                  // outermost first
  Dims strides[kMaxOperands];  // bytes, per operand
  int operands = 0;
};
IterationSpace make_iteration_space(const Dims& shape, const Dims* const* strides, int operands);
// Whether elements of `size` bytes of an operand follow one another as the space is traversed.
bool is_dense(const IterationSpace& space, int operand, int64_t size);

}  // namespace forerun
