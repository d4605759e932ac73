// Reductions and scans, for calls from Python and from the core.
#pragma once

#include "array/array.h"
#include "python/dispatch/ufunc_type.h"

namespace forerun {

// u over the marked axes, in dtype t. `label` is interned; errors name it. The op is issued.
Array reduced(UfuncObject* u, const char* label, const Array& in, const bool* axes, DType t, bool keepdims);
// The sum of an array's parts that broadcasting made of an array of this shape. Error if it did not.
Array sum_to(const Array& array, const Dims& shape);
// The running combination by u along an axis, in dtype t. The op is issued.
Array scanned(UfuncObject* u, const char* label, const Array& in, int axis, DType t);

}  // namespace forerun
