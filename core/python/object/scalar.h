// Scalars: arrays without axes that are values, as NumPy's scalars are. No operation writes into the storage of one.
#pragma once
#include <Python.h>

#include <cstdint>

#include "array/array.h"
#include "python/object/array_object.h"

namespace forerun {

// An array with the values of `like`, in that storage or another: a scalar if `like` is one.
PyObject* wrap_like(PyObject* like, Array array);
// The same object as a scalar, or as an array that is not one. Its storage must not be shared.
void become(PyObject* array, bool scalar);

// A scalar with a copy of the element at an offset: made at once where its value is computed, else by an operation.
PyObject* element(const Array& array, int64_t offset);
// The base of a view with axes: the array itself, or for a scalar, a copy in `own`, so that writing to the view leaves
// the scalar as it is.
const Array& viewed(const char* op, PyObject* o, Array& own);
// The array in `o`, which is to be written to; Error if it must not be.
const Array& get_writable(const char* op, PyObject* o);

}  // namespace forerun
