// Copies and casts of plain arrays.
#pragma once
#include <Python.h>

#include "array/array.h"

namespace forerun {

// A copy, or a cast: of values of small arrays at once, by the same loops as those of larger ones.
PyObject* converted(PyObject* self, DType t);

}  // namespace forerun
