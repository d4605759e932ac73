// Arrays joined along an axis, for Python.
#pragma once
#include <cstdint>
#include <vector>

#include "array/array.h"

namespace forerun {

// The order of the result's axes in memory: that of the arrays' axes, or C order.
enum class Joined : uint8_t { in_order_of_axes, in_c_order };
// The elements of arrays of one dtype, whose extents fit, in a new array of that shape.
Array concatenated(const std::vector<Array>& arrays, int axis, const Dims& shape, int device,
                   Joined order = Joined::in_order_of_axes);

}  // namespace forerun
