// Scalars: arrays without axes that are values, as NumPy's scalars are. No operation writes into the storage of a
// scalar.
#pragma once
#include <Python.h>

#include <cstdint>

#include "array/array.h"
#include "python/object/array_object.h"

namespace forerun {

// An array with the values of `like`, in the same storage or another one: a scalar if `like` is a scalar.
PyObject* wrap_like(PyObject* like, Array array);
// Turns the object into a scalar, or into an array that is not a scalar. Its storage must not be shared.
void become(PyObject* array, bool scalar);

// A scalar with a copy of the element at an offset: made at once if its value is computed, otherwise by an operation.
PyObject* element(const Array& array, int64_t offset);
// The value of an integer scalar. False: it is not computed, or another scalar.
bool integer_at_once(PyObject* scalar, int64_t* value);
// The base of a view with axes: the array itself; for a scalar a copy in `own`, so that writing to the view does not
// change the scalar.
const Array& viewed(const char* op, PyObject* o, Array& own);
// The array in `o`, which is to be written to; throws Error if it must not be.
const Array& get_writable(const char* op, PyObject* o);

}  // namespace forerun
