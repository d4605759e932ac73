// Making and copying arrays.
#pragma once

#include "array/array.h"
#include "cpu/kernels/scalar.h"
#include "engine/devices/memory_budget.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

Array unwritten(
    Array made);  // a new array, whose memory counts as written once it is allocated, whatever its bytes are
Array copied(const Array& from, DType t, int device);  // a new dense array of dtype t on a device
inline Array dense(const Array& a) { return a.layout.contiguous() ? a : copied(a, a.layout.dtype, device_of(a)); }

// A new array, all of it the value.
Array filled_array(const Dims& shape, DType t, const Scalar& value, int device);

}  // namespace forerun
