// Copies and casts of plain arrays.
#pragma once
#include <Python.h>

#include "array/array.h"

namespace forerun {

// The array itself if it has dtype t, otherwise a cast.
Array of_dtype(const Array& a, DType t);
// A copy of a plain array, or a cast. Null without an exception set: the array is not plain, or the cast would warn.
PyObject* converted(PyObject* self, DType t);

}  // namespace forerun
