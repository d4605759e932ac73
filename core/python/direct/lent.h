// NumPy's arrays as operands that operations read where they are, without a copy.
//
// The program may write to such an array as soon as the call returns, so the call waits until its operations have ended.
// That pays where they take no longer than the copy would: in reductions, and in products with a few vectors.
#pragma once
#include <Python.h>

#include "python/bindings.h"

namespace forerun {

// An array on the memory of NumPy's array, which it keeps alive. Null without an exception set: it must be copied,
// because it is small, of a dtype that forerun lacks, or because operations are recorded or must not run now.
nb::object lent_by(PyObject* numpy);
// Whether an operand beside it has its values, or gets them before a copy of the lent array would be done.
bool computed_soon(PyObject* operand, PyObject* lent);
// The result of the operations on a lent array, after a wait for their end. Null: as it is.
PyObject* when_ended(PyObject* result);

}  // namespace forerun
