// Python's numbers and elements of arrays.
#pragma once
#include <Python.h>

#include "base/dtype.h"

namespace forerun {

// A Python scalar of the first element at `data`.
PyObject* scalar_at(DType t, const char* data);
// Puts a Python or NumPy scalar into `bytes` as dtype t. False with OverflowError/TypeError set.
bool put_scalar(const char* op, PyObject* value, DType t, unsigned char* bytes);

}  // namespace forerun
