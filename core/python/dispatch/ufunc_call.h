// Calls of ufuncs: the operands are read, a loop is selected, and an operation is issued or run at once.
#pragma once
#include <Python.h>

#include "python/bindings.h"
#include "python/dispatch/ufunc_type.h"

namespace forerun {

// u(inputs...): a new reference to the output(s), or null with an exception set. `out`, `dtype` may be null or None.
// of_scalars: it is a call of an operator on scalars, which gives the bits of NumPy's scalars.
PyObject* call_ufunc(UfuncObject* u, PyObject* const* inputs, Py_ssize_t n, PyObject* out, PyObject* dtype,
                     bool of_scalars = false);
// The same with arrays in place of lists, on the device of the first operand that is an array.
PyObject* call_with_arrays(UfuncObject* u, PyObject* const* inputs, PyObject* out, PyObject* dtype);
// f(x, y, out=z, where=mask) for arrays of one shape and dtype, or one of them and a number. Null without an exception
// set: it is another kind of call.
PyObject* call_masked(UfuncObject* u, PyObject* const* args, Py_ssize_t n, PyObject* kwnames);

}  // namespace forerun
