// Reductions and scans, for calls from Python and from the core.
#pragma once

#include "array/array.h"
#include "python/dispatch/ufunc_type.h"

namespace forerun {

// Reduces the marked axes by u, in dtype t. `label` is interned; errors name it. The op is issued.
Array reduced(UfuncObject* u, const char* label, const Array& in, const bool* axes, DType t, bool keepdims);
// Sums an array that was broadcast from this shape back to it. Error if it was not.
Array sum_to(const Array& array, const Dims& shape);
// The running combination by u along an axis, in dtype t. The op is issued.
Array scanned(UfuncObject* u, const char* label, const Array& in, int axis, DType t);
// Reduces segments of an axis by u, each from an element of the vector `starts` to the next one. The op is issued.
Array segments_reduced(UfuncObject* u, const char* label, const Array& in, const Array& starts, int axis);

}  // namespace forerun
