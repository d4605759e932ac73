// Parts shared by all convolutions: layouts of operands, lines of elements, and sizes of blocks.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "array/array.h"
#include "base/rounding.h"
#include "cpu/kernels/conv/conv.h"
#include "cpu/kernels/conv/window_axes.h"

namespace forerun {

inline constexpr int64_t kRoom = 1 << 18;  // bytes of a copy of data that should stay in a core's cache
inline constexpr double kTileFlops = 4e6;  // smaller work is not cut into tiles
inline constexpr int64_t kTiles = 16;      // the number of tiles to aim at, if the work can be cut so

// The strides of an operand's elements, in bytes.
struct ImageStrides {
  int64_t offset = 0, example = 0, channel = 0, axis[3] = {0, 0, 0};

  ImageStrides() = default;
  explicit ImageStrides(const Layout& l) : offset(l.offset), example(l.strides[0]), channel(l.strides[1]) {
    for (int i = 2; i < l.ndim(); ++i) axis[3 - l.ndim() + i] = l.strides[i];
  }
  // The layout with the axes from that one on.
  Layout layout(DType t, int64_t examples, int64_t channels, const int64_t (&extents)[3], int first) const {
    Dims shape{examples, channels}, strides{example, channel};
    for (int a = first; a < 3; ++a) shape.push_back(extents[a]), strides.push_back(axis[a]);
    return strided(t, shape, strides, offset);
  }
};

template <class T>
const T& element(const char* data, int64_t offset) {
  return *reinterpret_cast<const T*>(data + offset);
}

// Copies a line of n elements, most often short ones: calls of memcpy would take longer than the copies.
template <class T>
void copy_line(T* to, const T* from, int64_t n) {
  constexpr int64_t large = 64 / sizeof(T), small = 16 / sizeof(T);
  int64_t i = 0;
  for (; i + large <= n; i += large) std::memcpy(to + i, from + i, 64);
  for (; i + small <= n; i += small) std::memcpy(to + i, from + i, 16);
  for (; i < n; ++i) to[i] = from[i];
}

// Copies n elements that are `step` bytes apart, next to each other.
template <class T>
void gather(T* to, const char* from, int64_t step, int64_t n) {
  constexpr int64_t size = sizeof(T);
  if (step == size)
    copy_line(to, reinterpret_cast<const T*>(from), n);
  else if (step == 2 * size)
    for (int64_t i = 0; i < n; ++i) to[i] = element<T>(from, i * 2 * size);  // in vectors
  else
    for (int64_t i = 0; i < n; ++i) to[i] = element<T>(from, i * step);
}
// The inverse; step in elements.
template <class T>
void spread(T* to, const T* from, int64_t step, int64_t n) {
  if (step == 1)
    copy_line(to, from, n);
  else if (step == 2)
    for (int64_t i = 0; i < n; ++i) to[i * 2] = from[i];
  else
    for (int64_t i = 0; i < n; ++i) to[i * step] = from[i];
}

// Of n elements that are `step` apart from `first` on, those that are inside [0, extent): from `begin` up to `end`.
struct Inside {
  int64_t begin, end;
  Inside(int64_t first, int64_t step, int64_t n, int64_t extent)
      : begin(std::clamp<int64_t>(ceil_div(std::max<int64_t>(0, -first), step), 0, n)),
        end(std::clamp<int64_t>(first < extent ? ceil_div(extent - first, step) : 0, begin, n)) {}
};

// Describes a convolution of such geometry (device/op_spec.h), without its operands. Returns the first of its axes.
inline int describe_windows(OpSpec& spec, const char* kind, const char* name, const Correlation& c) {
  const int first = first_axis(c.extents, c.kernel, c.pad);
  spec.kind = kind, spec.name = name;
  spec.set("groups", c.groups);
  set_axes(spec, first, {{"kernel", c.kernel}, {"stride", c.stride}, {"dilate", c.dilate}, {"pad", c.pad}});
  return first;
}

inline bool all_finite(const float* values, int64_t n) {
  bool found = false;
  for (int64_t i = 0; i < n; ++i) found |= (std::bit_cast<uint32_t>(values[i]) & 0x7f800000U) == 0x7f800000U;
  return !found;
}

inline uint32_t cost_of(const Correlation& what) {
  return static_cast<uint32_t>(std::min(500 + what.flops() / 100, 2e9));
}

// The final step of building an op.
template <class K>
void finish_correlation(Op& op, K& kernel, const Correlation& what, DType dtype) {
  kernel.c = what, kernel.dtype = dtype;
  kernel.plan();
  op.cost = cost_of(what);
}

}  // namespace forerun
