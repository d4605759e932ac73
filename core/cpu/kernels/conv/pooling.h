// Pooling of float32 and float64: one value for each window, and the gradient.
#pragma once
#include "array/array.h"

namespace forerun {

// Windows over the last axes of planes. Three axes of extents; with fewer axes the first extents are 1. All arrays are
// dense.
struct Pooling {
  bool largest = true;  // otherwise the sum
  int64_t planes = 0;
  int64_t extents[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1};
  int64_t counts[3] = {1, 1, 1};  // of windows, which lie inside the extents

  int64_t plane() const { return place(extents[0], 0, 0); }  // number of its elements
  int64_t windows() const { return counts[0] * counts[1] * counts[2]; }
  int64_t place(int64_t i, int64_t j, int64_t k) const {
    return (i * extents[1] + j) * extents[2] + k;
  }  // the offset of an element from the first one
};

// y (planes, *counts): the largest element, or the sum, of each window of x (planes, *extents). NaN is larger than
// numbers.
void build_pool(Op& op, const Pooling& what, const Array& x, const Array& y);
// to (planes, *extents): each g (planes, *counts) at the first element of its window of x that is not less than y;
// added where windows overlap.
void build_pool_first(Op& op, const Pooling& what, const Array& g, const Array& x, const Array& y, const Array& to);
// The same with each g at all elements of its window.
void build_pool_all(Op& op, const Pooling& what, const Array& g, const Array& to);

}  // namespace forerun
