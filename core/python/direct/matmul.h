// Plain products of matrices and vectors.
#pragma once
#include <Python.h>

namespace forerun {

// a @ b. Null without an exception set: not plain.
PyObject* matmul_directly(PyObject* a, PyObject* b);

}  // namespace forerun
