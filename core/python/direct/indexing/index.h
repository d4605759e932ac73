// Plain reads and writes by position and under a mask.
#pragma once
#include <Python.h>

#include <cstdint>

#include "cpu/kernels/copy/combine.h"

namespace forerun {

// Sets the element at this offset of a forerun array to a number; false: operations must do it.
bool put_at_once(PyObject* self, int64_t offset, PyObject* value);
// x[index] = value without a Python function. 1: done, 0: not plain, -1: an exception is set.
int assign_directly(PyObject* self, PyObject* index, PyObject* value);
// x[index] = op(x[index], value), one by one, for arrays of positions and masks. False: not plain.
bool combine_directly(PyObject* self, PyObject* index, PyObject* value, const Combine& combine);
// x[index] for arrays of positions and masks. Null without an exception set: not plain.
PyObject* pick_directly(PyObject* self, PyObject* index);

}  // namespace forerun
