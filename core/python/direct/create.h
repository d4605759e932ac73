// Plain calls of functions that make arrays.
#pragma once

#include "array/array.h"
#include "cpu/kernels/elementwise/elementwise.h"

namespace forerun {

// Where this thread makes new arrays, and whether Python's integers become floats, as the Python package says.
extern thread_local int default_device;
extern bool ints_become_floats;

// A new array, all of it the value.
Array filled_array(const Dims& shape, DType t, const Scalar& value, int device);

}  // namespace forerun
