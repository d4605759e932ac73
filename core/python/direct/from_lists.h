// Arrays of the numbers in lists.
#pragma once
#include <Python.h>

namespace forerun {

inline bool is_list(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }
// What asarray() makes of a list of numbers, of scalars, or of arrays. Null without an exception set: not plain.
PyObject* array_of_list(PyObject* list);

}  // namespace forerun
