// How the elements of an array lie in its storage.
#pragma once
#include <cstdint>
#include <utility>

#include "base/dtype.h"
#include "base/region.h"
#include "base/shape.h"

namespace forerun {

inline constexpr int kMostRegionDims = 8;  // regions of views with more axes are their ranges

// Whether elements of `item` bytes lie next to each other in C order. The strides of axes with extent 1 do not matter.
inline bool is_dense(const Dims& shape, const Dims& strides, int64_t item) {
  const int64_t *extent = shape.begin(), *stride = strides.begin();
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (extent[i] != 1 && stride[i] != item) return false;
    item *= extent[i];
  }
  return true;
}

// A value; strides and offset are in bytes. A stride may be zero (broadcast) or negative.
struct Layout {
  DType dtype = DType::f32;
  bool read_only = false;  // nothing is written through it, nor through views of it
  Dims shape;
  Dims strides;
  int64_t offset = 0;
  int64_t size = 1;  // number of elements

  int ndim() const { return shape.size(); }
  int64_t nbytes() const { return size * static_cast<int64_t>(item_size(dtype)); }
  // C order without gaps (also: empty, or one element).
  bool contiguous() const { return size <= 1 || is_dense(shape, strides, static_cast<int64_t>(item_size(dtype))); }

  // No gaps either, and steps forward, with the axes in any order (also: contiguous).
  bool packed() const;

  // The bytes of the storage from the first element to the end of the last one; empty for an empty layout.
  std::pair<int64_t, int64_t> range() const;

  // The region of the storage that the elements occupy, to detect views that do not overlap.
  Region region() const;

  // Whether elements share memory, as in a broadcast view or in overlapping windows. Also true if the answer would take
  // long to find.
  bool overlaps_itself() const;

  // The layout of a copy of the elements in fresh memory of `bytes` bytes. It is traversed in the same order: the same
  // axes, and no others, follow one another without gaps.
  Layout apart(int64_t& bytes) const;

  // Throws Error(value) if the number of bytes overflows.
  static Layout dense(DType dtype, const Dims& shape);
};

// Elements of that shape and those strides in bytes, starting at an offset in their storage.
inline Layout strided(DType dtype, const Dims& shape, const Dims& strides, int64_t offset) {
  Layout made;
  made.dtype = dtype, made.shape = shape, made.strides = strides, made.offset = offset, made.size = product(shape);
  return made;
}

// NumPy's broadcasting of two shapes. Throws Error(value) naming `op` if they do not fit.
Dims broadcast(const char* op, const Dims& a, const Dims& b);
// The same elements seen under a larger shape: strides of repeated axes become 0. Throws Error(value).
Layout broadcast_to(const char* op, const Layout& a, const Dims& shape);

}  // namespace forerun
