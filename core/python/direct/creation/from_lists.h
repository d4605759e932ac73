// Arrays from numbers in lists, and from small arrays of NumPy.
#pragma once
#include <Python.h>

#include "python/bindings.h"
#include "python/numpy_api.h"
#include "python/object/plain.h"

namespace forerun {

// The array that asarray() makes of a list of numbers, of scalars, or of arrays. Null without an exception set: the
// list is not plain.
PyObject* array_of_list(PyObject* list);

// The same for a number.
PyObject* array_of_number(PyObject* number);

// The same for an array of NumPy: a copy, if it is small and dense.
PyObject* array_of_numpy(PyObject* array);
// Whether an argument is array-like: a list, or an array of NumPy.
inline bool is_array_like(PyObject* o) { return is_list(o) || PyArray_CheckExact(o); }
// The array of an array-like argument, null if that is not plain; other objects unchanged.
inline nb::object array_from_like(PyObject* o) {
  if (is_list(o)) return nb::steal(array_of_list(o));
  return PyArray_CheckExact(o) ? nb::steal(array_of_numpy(o)) : nb::borrow(o);
}

}  // namespace forerun
