// Plain calls of functions that view and join arrays.
#pragma once
#include <Python.h>

namespace forerun {

// The view with the axes reversed. Null without an exception set: not plain.
PyObject* reversed_axes(PyObject* self);
// The arrays in a list or tuple, stacked along a new first axis. Null without an exception set: not plain.
PyObject* stacked(PyObject* list);

}  // namespace forerun
