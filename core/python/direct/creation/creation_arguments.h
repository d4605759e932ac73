// Arguments of functions that make arrays: shapes, dtypes, and the current device.
#pragma once
#include <Python.h>

#include "array/array.h"
#include "python/bindings.h"

namespace forerun {

// Reads an int, or a tuple or list of ints, all nonnegative. False: it is another kind of shape.
bool plain_shape(PyObject* o, Dims* shape);
// A dtype that arrays can have: None for the default float, or a dtype of NumPy's. False: another object, to be
// interpreted in Python.
bool plain_dtype(PyObject* o, DType* t);
// A Python number in place of a scalar with a computed value and the same meaning; other objects unchanged.
nb::object number_of_scalar(PyObject* o);
// The current device.
int here();

}  // namespace forerun
