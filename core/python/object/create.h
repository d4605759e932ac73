// Creating and copying arrays.
#pragma once
#include <optional>

#include "array/array.h"
#include "array/axis_order.h"
#include "cpu/kernels/scalar.h"
#include "engine/devices/memory_budget.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

Array unwritten(Array made);  // a new array, whose memory counts as written once it is allocated, whatever it contains
Array copied(const Array& from, DType t, int device);  // a new array of dtype t on a device, in C order
Array copied_like(const Array& from, DType t);         // on the array's device, with its order of axes
inline Array dense(const Array& a) { return a.layout.contiguous() ? a : copied(a, a.layout.dtype, device_of(a)); }

// The layout of a result, with the axes in the order of the operands, which broadcast to the shape; in C order on an
// accelerator.
Layout result_layout(DType t, const Dims& shape, const Layout* const* operands, int n, int device);
// The order of an array's axes, which a result of it has, too; none: C order.
std::optional<AxisOrder> order_of(const Array& array);

// A new array, filled with the value.
Array filled_array(const Dims& shape, DType t, const Scalar& value, int device);

}  // namespace forerun
