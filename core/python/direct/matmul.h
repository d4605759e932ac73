// Plain products of matrices and vectors.
#pragma once
#include <Python.h>

namespace forerun {

// a @ b, arrays of forerun or NumPy, or lists of numbers. Null without an exception set: not plain.
PyObject* matmul_directly(PyObject* a, PyObject* b);

}  // namespace forerun
