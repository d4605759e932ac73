// Arrays of few of Python's numbers, made at once.
#pragma once
#include <Python.h>

#include "array/array.h"

namespace forerun {

// A number that NumPy's assignment takes into dtype t as it is: of Python's, kinds in the order bool, int, float,
// complex.
bool takes_number(DType t, PyObject* value);
// Of NumPy's scalars: those of the dtype, and whole and short numbers that become float64.
bool takes_scalar(DType t, PyObject* value);
// Numbers as an array of dtype t and this shape, one after the other. No storage: the dtype does not take one of them,
// or there is no memory for it at once.
Array numbers_at_once(PyObject* const* values, const Dims& shape, DType t, int device);
// The same of the numbers in a list, of few.
Array listed_numbers(PyObject* list, DType t, int device);

}  // namespace forerun
