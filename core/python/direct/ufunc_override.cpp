// Plain calls of `__array_ufunc__`, by which NumPy delegates its ufuncs to forerun: for `numpy.float64(2) * x`, whose
// operator is NumPy's, and for `numpy.add(x, y)`.
#include <algorithm>
#include <chrono>
#include <vector>

#include "python/direct/function_type.h"
#include "python/direct/matmul.h"
#include "python/dispatch/fallback.h"
#include "python/dispatch/loops/promotion.h"
#include "python/dispatch/ufunc_call.h"
#include "python/dispatch/ufunc_type.h"
#include "python/numpy_api.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/plain.h"
#include "python/object/scalar.h"
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

// Whether it is of a class derived from NumPy's array that has no ufuncs of its own.
bool leaves_it_to_numpy(PyObject* o) {
  static PyObject* const name = PyUnicode_InternFromString("__array_ufunc__");
  return is_derived(o) && has_numpys(o, name);
}

// NumPy's ufunc, with the values of the arrays among the operands.
PyObject* call_numpy(PyObject* ufunc, PyObject* const* inputs, Py_ssize_t n) {
  const auto begun = std::chrono::steady_clock::now();
  std::vector<nb::object> given;
  std::vector<PyObject*> args;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!is_array(inputs[i])) {
      given.push_back(nb::borrow(inputs[i]));
    } else {
      PyObject* values = to_numpy(as_array(inputs[i])->array);
      given.push_back(
          checked(is_scalar(inputs[i]) ? PyArray_Return(reinterpret_cast<PyArrayObject*>(values)) : values));
    }
    args.push_back(given.back().ptr());
  }
  PyObject* result = PyObject_Vectorcall(ufunc, args.data(), args.size(), nullptr);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
  result = derived_result(ufunc, result, spent.count());
  return result ? result : throw PythonError{};
}

// array_ufunc(self, ufunc, "__call__", *operands), if forerun has an operation for the ufunc: the function is
// constructed with a dict of these operations, with numpy.matmul, and with a dict of the operations made from ufuncs of
// other libraries.
PyObject* array_ufunc(const DirectCall& call) {
  constexpr Py_ssize_t kBefore = 3;
  const bool called = call.n > kBefore && !call.kwnames && PyUnicode_Check(call.args[2]) &&
                      PyUnicode_CompareWithASCIIString(call.args[2], "__call__") == 0;
  if (!called) return nullptr;
  if (numpy_rules && is_array(call.args[0]) && std::any_of(call.args + kBefore, call.args + call.n, leaves_it_to_numpy))
    return call_numpy(call.args[1], call.args + kBefore, call.n - kBefore);
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
