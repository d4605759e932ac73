// Arguments of functions that make arrays: shapes, dtypes, and the current device.
#pragma once
#include <Python.h>

#include "array/array.h"
#include "python/bindings.h"

namespace forerun {

// Reads an int, or a tuple or list of ints, none negative. False: it is another kind of shape.
bool plain_shape(PyObject* o, Dims* shape);
// A dtype that arrays can have: none for the default float, or a dtype of NumPy's. False: something else, to be
// understood in Python.
bool plain_dtype(PyObject* o, DType* t);
// A Python number in place of a scalar whose value is computed and which means the same; anything else as it is.
nb::object number_of_scalar(PyObject* o);
// The current device.
int here();

}  // namespace forerun
