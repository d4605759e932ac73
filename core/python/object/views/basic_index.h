// Views by basic indexes.
#pragma once
#include <Python.h>

#include "array/array.h"

namespace forerun {

// Whether one entry of an index is an int, a slice, None, or Ellipsis.
bool is_basic(PyObject* item);
// The view that a basic index (ints, slices, None, Ellipsis) selects. False: not a basic index. single: whether it
// consists of integers that select one element.
bool basic_index(const Array& array, PyObject* index, Array* view, bool* single = nullptr);
// x[index] for a basic index: a view, or a scalar with a copy of the element if each axis is indexed by an integer.
// Null without an exception: not a basic index.
PyObject* read_basic(PyObject* self, PyObject* index);

}  // namespace forerun
