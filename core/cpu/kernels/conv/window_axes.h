// Windows over one to three axes, whose parameters have leading ones if there are fewer than three: for descriptions of
// operations.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "device/op_spec.h"

namespace forerun {

// The first axis with windows. Axes before it have one element.
inline int first_axis(const int64_t (&extents)[3], const int64_t (&kernel)[3], const int64_t (&pad)[3] = {0, 0, 0}) {
  int axis = 0;
  while (axis < 2 && extents[axis] == 1 && kernel[axis] == 1 && pad[axis] == 0) ++axis;
  return axis;
}

// Sets attributes that have a value for each axis from that one on.
inline void set_axes(OpSpec& spec, int first, std::initializer_list<std::pair<const char*, const int64_t*>> all) {
  for (const auto& [name, numbers] : all) spec.set(name, std::vector<int64_t>(numbers + first, numbers + 3));
}

}  // namespace forerun
