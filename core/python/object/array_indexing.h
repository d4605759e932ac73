// x[index], and x[index] = value.
#pragma once
#include <Python.h>

#include <cstdint>

#include "array/array.h"

namespace forerun {

// The view that a basic index (ints, slices, None, Ellipsis) selects. False: not a basic index. single: whether
// integers alone name one element.
bool basic_index(const Array& array, PyObject* index, Array* view, bool* single = nullptr);

// x[index] for a basic index: a view, or a scalar with a copy of the element where each axis is indexed by an integer.
// Null without an exception: not a basic index.
PyObject* read_basic(PyObject* self, PyObject* index);
// x[i], x[index] = value, as the array type's slots.
PyObject* get_item(PyObject* self, PyObject* index);
// Whether integers, whose values are computed, name an element of an array, and its offset.
bool names_element(PyObject* array, PyObject* index, int64_t* offset);
PyObject* sequence_item(PyObject* self, Py_ssize_t i);
int set_item(PyObject* self, PyObject* index, PyObject* value);

}  // namespace forerun
