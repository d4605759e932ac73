// Arithmetic of two numbers without an operation.
#pragma once
#include <Python.h>

#include "python/dispatch/operator_table.h"

namespace forerun {

// Arithmetic and comparisons of two real numbers, of which one at least is a scalar whose value is computed; null
// without an exception: an operation must do it.
PyObject* calculated_at_once(Operator which, PyObject* a, PyObject* b);
// The same of -a, |a|, the square and the root of a, of a scalar.
PyObject* calculated_at_once(Operator which, PyObject* a);

}  // namespace forerun
