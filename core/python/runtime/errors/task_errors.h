// The Python exceptions of failed host tasks.
#pragma once
#include <nanobind/nanobind.h>

#include "base/error.h"

namespace forerun {

// The Python exception that is set now, for the running op to throw and fail with. Clears it. With the interpreter
// lock.
Error taken_exception();
// The exception of a failed task, in the state in which the task raised it, with a note that names the line which
// issued it.
nanobind::object raised(const Failure& failure);
// The same for a failure of an op without a Python exception: a new exception.
nanobind::object raised(const Failure& failure, PyObject* type);

}  // namespace forerun
