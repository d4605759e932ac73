// Arrays of NumPy's scalars, and of Python's numbers with a dtype.
#pragma once
#include <Python.h>

#include <vector>

#include "base/dtype.h"

namespace forerun {

// The array that NumPy makes of a number or of nested lists, whose numbers are `leaves`, in a dtype; null or None: by
// NumPy's rules. Null without an exception set: values may not fit, or are of other kinds.
PyObject* array_of_scalars(PyObject* numbers, const std::vector<PyObject*>& leaves, PyObject* dtype);

// Whether NumPy converts the number to dtype t without a warning, and to the value that put_scalar() gives it.
bool converts(PyObject* number, DType t);

}  // namespace forerun
