#include "array/iteration_space.h"

namespace forerun {

namespace {

int64_t magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

// Whether axis i should be outside axis j: by the output's strides, then the inputs'. Equal strides keep the order.
bool outside(const Dims* const* strides, int operands, int i, int j) {
  for (int k = operands - 1; k >= 0; --k) {
    int64_t a = magnitude((*strides[k])[i]), b = magnitude((*strides[k])[j]);
    if (a == 0 || b == 0 || a == b) continue;
    return a > b;
  }
  return true;
}

}  // namespace

IterationSpace make_iteration_space(const Dims& shape, const Dims* const* strides, int operands) {
  int order[kMaxDims], n = 0;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    int at = n++;
    for (; at > 0 && !outside(strides, operands, order[at - 1], i); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  int64_t extent[kMaxDims], step[IterationSpace::kMaxOperands][kMaxDims];
  int m = 0;  // axes after merging
  for (int at = 0; at < n; ++at) {
    int axis = order[at];
    bool merges = m > 0;
    for (int k = 0; merges && k < operands; ++k) merges = step[k][m - 1] == (*strides[k])[axis] * shape[axis];
    if (merges)
      extent[m - 1] *= shape[axis];
    else
      extent[m++] = shape[axis];
    for (int k = 0; k < operands; ++k) step[k][m - 1] = (*strides[k])[axis];
  }
  if (m == 0) {
    extent[0] = 1;
    for (int k = 0; k < operands; ++k) step[k][0] = 0;
    m = 1;
  }
  IterationSpace space;
  space.operands = operands;
  space.shape = Dims(extent, m);
  for (int k = 0; k < operands; ++k) space.strides[k] = Dims(step[k], m);
  return space;
}

bool is_dense(const IterationSpace& space, int operand, int64_t size) {
  for (int i = space.shape.size() - 1; i >= 0; --i) {
    if (space.strides[operand][i] != size && space.shape[i] > 1) return false;
    size *= space.shape[i];
  }
  return true;
}

}  // namespace forerun
