// Pooling of float32 and float64: a number for each window, and the way back.
#pragma once
#include "array/array.h"

namespace forerun {

// Windows over the last axes of planes. Three axes of extents; fewer have 1 in front. All arrays are dense.
struct Pooling {
  bool largest = true;  // else the sum
  int64_t planes = 0;
  int64_t extents[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1};
  int64_t counts[3] = {1, 1, 1};  // of windows, which lie inside the extents

  int64_t plane() const { return place(extents[0], 0, 0); }  // its elements
  int64_t windows() const { return counts[0] * counts[1] * counts[2]; }
  int64_t place(int64_t i, int64_t j, int64_t k) const {
    return (i * extents[1] + j) * extents[2] + k;
  }  // elements from the first one on
};

// y (planes, *counts): the largest element, or the sum, of each window of x (planes, *extents). NaN is larger than
// numbers.
void build_pool(Op& op, const Pooling& what, const Array& x, const Array& y);
// to (planes, *extents): each g (planes, *counts) at the first element of its window of x that is not below y, sums
// where windows meet.
void build_pool_first(Op& op, const Pooling& what, const Array& g, const Array& x, const Array& y, const Array& to);
// The same with each g at all elements of its window.
void build_pool_all(Op& op, const Pooling& what, const Array& g, const Array& to);

}  // namespace forerun
