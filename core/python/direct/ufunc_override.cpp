// Plain calls of `__array_ufunc__`, by which NumPy delegates its ufuncs to forerun: for `numpy.float64(2) * x`, whose
// operator is NumPy's, and for `numpy.add(x, y)`.
#include <algorithm>

#include "python/direct/function_type.h"
#include "python/direct/matmul.h"
#include "python/dispatch/loops/promotion.h"
#include "python/dispatch/ufunc_call.h"
#include "python/dispatch/ufunc_type.h"
#include "python/numpy_api.h"
#include "python/object/plain.h"
#include "python/runtime/errors/errors.h"

namespace forerun {

namespace {

// Whether it is an array or number of a class without rules of its own.
bool plain_operand(PyObject* o) {
  return is_array(o) || PyArray_CheckExact(o) || weak_rank(o) >= 0 || PyArray_IsScalar(o, Number) ||
         PyArray_IsScalar(o, Bool);
}

// Whether the operands are of one dtype of inexact numbers, for which the op has a loop.
bool of_one_loop(const UfuncObject* u, PyObject* const* inputs, Py_ssize_t n) {
  const Array* first = plain_values(inputs[0]);
  const DType t = first ? first->layout.dtype : DType::b1;
  return is_inexact(t) && u->same[static_cast<int>(t)] && std::all_of(inputs, inputs + n, [t](PyObject* o) {
           const Array* a = plain_values(o);
           return a && a->layout.dtype == t;
         });
}

// array_ufunc(self, ufunc, "__call__", *operands), if forerun has an operation for the ufunc: the function is
// constructed with a dict of these operations, with numpy.matmul, and with a dict of the operations made from ufuncs of
// other libraries.
PyObject* array_ufunc(const DirectCall& call) {
  constexpr Py_ssize_t kBefore = 3;
  const bool called = call.n > kBefore && !call.kwnames && PyUnicode_Check(call.args[2]) &&
                      PyUnicode_CompareWithASCIIString(call.args[2], "__call__") == 0;
  if (!called) return nullptr;
  if (call.args[1] == PyTuple_GET_ITEM(call.data, 1) && call.n == kBefore + 2)
    return matmul_directly(call.args[kBefore], call.args[kBefore + 1]);
  PyObject* op = PyDict_GetItemWithError(PyTuple_GET_ITEM(call.data, 0), call.args[1]);
  const bool foreign = !op && !PyErr_Occurred();
  if (foreign) op = PyDict_GetItemWithError(PyTuple_GET_ITEM(call.data, 2), call.args[1]);
  if (!op) return PyErr_Occurred() ? throw PythonError{} : nullptr;
  UfuncObject* u = get_ufunc("array_ufunc", op);
  PyObject* const* inputs = call.args + kBefore;
  const Py_ssize_t n = call.n - kBefore;
  if (n != u->nin || u->nout != 1 || !std::all_of(inputs, inputs + n, plain_operand)) return nullptr;
  if (foreign && !of_one_loop(u, inputs, n)) return nullptr;
  PyObject* result = call_ufunc(u, inputs, n, nullptr, nullptr);
  return result ? result : throw PythonError{};
}

}  // namespace

void add_direct_overrides() { add_direct("array_ufunc", array_ufunc); }

}  // namespace forerun
