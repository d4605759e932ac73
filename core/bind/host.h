// Host tasks: Python callables that workers run under the interpreter lock.
#pragma once
#include <vector>

#include "bind/array.h"

namespace forerun {

// Fills `op`: fn(*inputs as read-only numpy arrays) must return what the outputs take. With the interpreter lock.
// trusted: fn is known not to write to its inputs, which need not be marked as read-only (NumPy copies such for some functions).
void build_host(Op& op, const char* name, PyObject* fn, const std::vector<Array>& inputs, const std::vector<Array>& outputs, bool trusted);

// Raises a copy of an exception, with a traceback (or None) of its own.
void raise_copy(PyObject* exception, PyObject* trace);

}  // namespace forerun
