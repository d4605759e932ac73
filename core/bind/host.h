// Host tasks: Python callables that workers run under the interpreter lock.
#pragma once
#include <vector>

#include "bind/glue.h"

namespace forerun {

// Fills `op`: fn(*inputs as read-only numpy arrays) must return what the outputs take. With the interpreter lock.
// trusted: fn is known not to write to its inputs, which need not be marked as read-only (NumPy copies such for some functions).
void build_host(Op& op, const char* name, PyObject* fn, const std::vector<Array>& inputs, const std::vector<Array>& outputs, bool trusted);

bool in_host_task();  // whether this thread is running one

// The Python exception that is set now, for the op that runs to throw and fail with. Clears it. With the interpreter lock.
Error taken_exception();
// The exception of a failed task, as it was when the task raised it, with a note that names the line which issued it.
nb::object raised(const Failure& failure);
// The same for a failure of an op that is not Python: a new exception.
nb::object raised(const Failure& failure, PyObject* type);

}  // namespace forerun
