// Arrays of few Python numbers, made at once.
#pragma once
#include <Python.h>

#include "array/array.h"

namespace forerun {

// Whether NumPy's assignment takes a Python number into dtype t without conversion: kinds in the order bool, int,
// float, complex.
bool takes_number(DType t, PyObject* value);
// The same for NumPy's scalars: those of the dtype, and integers and short floats that become float64.
bool takes_scalar(DType t, PyObject* value);
// The dtype of one of NumPy's scalars. False: it is something else, or of another dtype.
bool dtype_of_scalar(PyObject* value, DType* t);
// The Python number that a number of Python or NumPy, of any dtype, becomes in an array of dtype t, if NumPy's
// assignment converts it without a warning or an error. Null without an exception set: not so.
PyObject* converted_number(PyObject* value, DType t);
// The same for an element of an array: puts it into `bytes`. False: not so.
bool convert_element(DType from, const char* data, DType t, unsigned char* bytes);
// Whether a Python integer is an exact 64-bit float because it has at most 53 bits.
bool is_exact_as_double(PyObject* integer);
// Whether a number converts to a 32-bit float without an overflow that must be reported.
bool fits_float(double value);
// Numbers as an array of dtype t and this shape. No storage: the dtype does not take one of them, or there is no memory
// for it at once.
Array numbers_at_once(PyObject* const* values, const Dims& shape, DType t, int device);
// The same for the numbers in a short list.
Array listed_numbers(PyObject* list, DType t, int device);

}  // namespace forerun
