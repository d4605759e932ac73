// Random parts of arrays, by their layouts.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "array/layout.h"

namespace forerun::test {

using Random = std::mt19937;

// A part of each axis; `stepped`: with steps of more than one, in both directions, and removed axes.
inline Layout part_of(const Layout& whole, Random& random, bool stepped) {
  Layout part = whole;
  std::vector<int64_t> shape, strides;
  part.size = 1;
  for (int i = 0; i < whole.ndim(); ++i) {
    int64_t n = whole.shape[i], step = stepped && random() % 3 == 0 ? 2 : 1, from = static_cast<int64_t>(random() % n),
            count = 1 + static_cast<int64_t>(random()) % ((n - from + step - 1) / step);
    if (stepped && random() % 4 == 0) from += (count - 1) * step, step = -step;
    part.offset += from * whole.strides[i];
    if (stepped && count == 1 && random() % 2) continue;
    shape.push_back(count), strides.push_back(step * whole.strides[i]);
    part.size *= count;
  }
  part.shape = Dims(shape.data(), static_cast<int>(shape.size())),
  part.strides = Dims(strides.data(), static_cast<int>(strides.size()));
  return part;
}

}  // namespace forerun::test
