#include "python/dispatch/operator_table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "base/error.h"
#include "python/dispatch/loops/scalar_loops.h"
#include "python/dispatch/ufunc_call.h"
#include "python/dispatch/ufunc_type.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"

namespace forerun {

namespace {

constexpr const char* kOperatorNames[] = {"add",         "subtract",      "multiply",   "divide",      "floor_divide",
                                          "remainder",   "power",         "negative",   "positive",    "absolute",
                                          "invert",      "bitwise_and",   "bitwise_or", "bitwise_xor", "left_shift",
                                          "right_shift", "less",          "less_equal", "equal",       "not_equal",
                                          "greater",     "greater_equal", "square",     "sqrt",        "reciprocal"};
static_assert(std::size(kOperatorNames) == static_cast<size_t>(Operator::count));

PyObject* ufuncs[static_cast<int>(Operator::count)];

PyObject*& named(const char* name) {
  for (size_t i = 0; i < std::size(kOperatorNames); ++i)
    if (std::strcmp(kOperatorNames[i], name) == 0) return ufuncs[i];
  throw Error(ErrorKind::value, std::string("no such operator: ") + name);
}

// Whether all operands are scalars: forerun's, NumPy's or Python's.
bool are_scalars(PyObject* const* inputs, Py_ssize_t n) {
  return std::all_of(inputs, inputs + n, [](PyObject* o) { return is_array(o) ? is_scalar(o) : !PyArray_Check(o); });
}

}  // namespace

PyObject* call_operator(Operator which, PyObject* const* inputs, Py_ssize_t n, PyObject* out) {
  PyObject* op = ufuncs[static_cast<int>(which)];
  if (!op)
    return PyErr_Format(PyExc_NotImplementedError,
                        "%s: forerun.np must be imported first, got an array made without it",
                        kOperatorNames[static_cast<int>(which)]);
  return call_ufunc(reinterpret_cast<UfuncObject*>(op), inputs, n, out, nullptr, !out && are_scalars(inputs, n));
}

std::span<const char* const> operator_names() { return kOperatorNames; }

PyObject* operator_ufunc(Operator which) { return ufuncs[static_cast<int>(which)]; }

void set_operator(const char* name, PyObject* ufunc) {
  PyObject*& slot = named(name);
  add_scalar_loops(get_ufunc("set_operator", ufunc), static_cast<Operator>(&slot - ufuncs));
  Py_XSETREF(slot, Py_NewRef(ufunc));
}

}  // namespace forerun
