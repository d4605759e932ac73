// Copies and casts of plain arrays.
#pragma once
#include <Python.h>

#include "array/array.h"

namespace forerun {

// A copy, or a cast: of values of small arrays at once, by the same loops as those of larger ones.
Array converted(const Array& from, DType t, int device);
// The array itself if it is of dtype t, else a cast.
Array of_dtype(const Array& a, DType t);
// The same of a plain array. Null without an exception set: it is none, or the cast would warn.
PyObject* converted(PyObject* self, DType t);

}  // namespace forerun
