// Creating and copying arrays.
#pragma once

#include "array/array.h"
#include "cpu/kernels/scalar.h"
#include "engine/devices/memory_budget.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

Array unwritten(Array made);  // a new array, whose memory counts as written once it is allocated, whatever it contains
Array copied(const Array& from, DType t, int device);  // a new dense array of dtype t on a device
inline Array dense(const Array& a) { return a.layout.contiguous() ? a : copied(a, a.layout.dtype, device_of(a)); }

// A new array, filled with the value.
Array filled_array(const Dims& shape, DType t, const Scalar& value, int device);

}  // namespace forerun
