// The sources of a ufunc's loops: NumPy's tables, those of ml_dtypes, and other libraries'.
#pragma once
#include <Python.h>

#include "base/dtype.h"
#include "cpu/kernels/signal/line_loop.h"
#include "cpu/loops/loop.h"

namespace forerun {

constexpr int kMaxOperands = 6;

struct UfuncObject;

// A loop and its dtypes: inputs, then outputs.
struct Signature {
  DType types[kMaxOperands];
  Loop loop;
  const Signature* of_scalars = nullptr;  // the one of an operator on scalars, if that has other bits (scalar_loops.h)
};

// Adds the signatures of a ufunc: the loops of a NumPy ufunc (false with an exception set: it has no usable ones),
// those of a selection, or of values that must lie within limits, given as a tuple (message, low, high, open_low,
// open_high, takes_nan, overflow); then list_same() notes which of them have one dtype for all inputs.
bool add_numpy_loops(UfuncObject* u, PyObject* ufunc);
void add_select_loops(UfuncObject* u);
bool add_limiting_loops(UfuncObject* u, PyObject* limits);
void list_same(UfuncObject* u);

// The loop whose inputs are all of dtype t, or null.
const Signature* same_loop(UfuncObject* u, DType t);

// A loop of a generalized ufunc of NumPy's with the signature (n),()->(m), for inputs of dtype t. It lives as long as
// the process.
const LineLoop* line_loop(PyObject* ufunc, DType t);  // null: no such loop

}  // namespace forerun
