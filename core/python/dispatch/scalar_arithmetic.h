// Arithmetic of two numbers without an operation.
#pragma once
#include <Python.h>

#include "python/dispatch/operator_table.h"

namespace forerun {

// Arithmetic and comparisons of two real numbers, at least one of which is a scalar with a computed value; null without
// an exception: an operation must do it.
PyObject* calculated_at_once(Operator which, PyObject* a, PyObject* b);
// The same for -a, |a|, the square and the square root of a scalar.
PyObject* calculated_at_once(Operator which, PyObject* a);

}  // namespace forerun
