// Selects the loop of a ufunc for given operands.
#pragma once
#include <Python.h>

#include "array/array.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/dispatch/ufunc_type.h"

namespace forerun {

struct Input {
  const Array* array = nullptr;  // null: a weak scalar, or a scalar of NumPy's
  PyObject* object = nullptr;
  int weak = -1;  // see weak_rank()
};

// The loop for these operands; `dtype`: null, None, a dtype, or a tuple for named_loop(). Throws Error if there is no
// such loop.
const Signature* resolve(UfuncObject* u, const Input* in, PyObject* dtype);
// The loop of exactly the dtypes in a tuple, of inputs and outputs; TypeError if there is no such loop.
const Signature* named_loop(UfuncObject* u, PyObject* dtypes);

}  // namespace forerun
