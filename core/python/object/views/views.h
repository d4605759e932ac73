// Views and copies of arrays, for calls from Python and from the core.
#pragma once

#include "array/array.h"

namespace forerun {

// The same elements with another shape: a view if the layout allows it, otherwise a copy. One extent may be -1. Throws
// Error.
Array reshaped(const Array& from, Dims shape);
// Axis i of the view is axis axes[i]; they name each axis once.
Array with_axes(const Array& from, const int* axes);

}  // namespace forerun
