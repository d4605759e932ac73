// x[index], and x[index] = value, as slots of the array type.
#pragma once
#include <Python.h>

#include <cstdint>

namespace forerun {

PyObject* subscript(PyObject* self, PyObject* index);
PyObject* sequence_item(PyObject* self, Py_ssize_t i);
int assign_subscript(PyObject* self, PyObject* index, PyObject* value);
// Whether an index consists of integers with computed values that select one element of an array; and its offset.
bool names_element(PyObject* array, PyObject* index, int64_t* offset);

}  // namespace forerun
