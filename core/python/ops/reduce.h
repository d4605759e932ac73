// Reductions and products of arrays, for calls from Python and from the core.
#pragma once
#include "python/dispatch/ufunc_type.h"

namespace forerun {

// u over the marked axes, in dtype t. `label` is interned; errors name it. The op is issued.
Array reduced(UfuncObject* u, const char* label, const Array& in, const bool* axes, DType t, bool keepdims);
// What u has combined by each element along an axis, in dtype t. The op is issued.
Array scanned(UfuncObject* u, const char* label, const Array& in, int axis, DType t);
// a @ b of one dtype and device whose shapes fit: vectors, matrices and stacks of them. The op is issued.
Array product_of(const Array& a, const Array& b);

}  // namespace forerun
