// Writing numbers and arrays into views.
#pragma once
#include <Python.h>

#include "array/array.h"

namespace forerun {

// A Python number that NumPy's assignment takes into dtype t as it is: kinds in the order bool, int, float, complex.
bool takes_number(DType t, PyObject* value);
// All elements become the value, a number.
void fill_view(const Array& to, PyObject* value);
// Numbers as an array of dtype t and this shape, one after the other. No storage: the dtype does not take one of them,
// or there is no memory for it at once.
Array numbers_at_once(PyObject* const* values, const Dims& shape, DType t, int device);
// The same of the numbers in a list, of few.
Array listed_numbers(PyObject* list, DType t, int device);
// The values as they broadcast to a shape; leading axes of extent 1 too many are left out. False: they do not.
bool fit_layout(Layout& values, const Dims& shape);
// The elements become those of another array, which broadcasts to them. False: an operation must do it.
bool copy_into(const Array& to, const Array& from);

}  // namespace forerun
