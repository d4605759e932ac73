// Arithmetic of two numbers without an operation.
#pragma once
#include <Python.h>

#include "python/dispatch/operator_table.h"

namespace forerun {

// Sums, products and comparisons of two numbers, of which one at least is a scalar whose value is computed; null
// without an exception: an operation must do it.
PyObject* calculated_at_once(Operator which, PyObject* a, PyObject* b);

}  // namespace forerun
