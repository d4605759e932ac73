#include "python/dispatch/operator_table.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "base/error.h"
#include "python/dispatch/ufunc_call.h"
#include "python/dispatch/ufunc_type.h"

namespace forerun {

namespace {

constexpr const char* kOperatorNames[] = {"add",         "subtract",      "multiply",   "divide",      "floor_divide",
                                          "remainder",   "power",         "negative",   "positive",    "absolute",
                                          "invert",      "bitwise_and",   "bitwise_or", "bitwise_xor", "left_shift",
                                          "right_shift", "less",          "less_equal", "equal",       "not_equal",
                                          "greater",     "greater_equal", "square",     "sqrt",        "reciprocal"};
static_assert(std::size(kOperatorNames) == static_cast<size_t>(Operator::count));

PyObject* slots[static_cast<int>(Operator::count)];

PyObject*& named(const char* name) {
  for (size_t i = 0; i < std::size(kOperatorNames); ++i)
    if (std::strcmp(kOperatorNames[i], name) == 0) return slots[i];
  throw Error(ErrorKind::value, std::string("no such operator: ") + name);
}

}  // namespace

PyObject* call_operator(Operator slot, PyObject* const* inputs, Py_ssize_t n, PyObject* out) {
  PyObject* op = slots[static_cast<int>(slot)];
  if (!op)
    return PyErr_Format(PyExc_NotImplementedError,
                        "%s: forerun.np must be imported first, got an array made without it",
                        kOperatorNames[static_cast<int>(slot)]);
  return call_ufunc(reinterpret_cast<UfuncObject*>(op), inputs, n, out, nullptr);
}

std::span<const char* const> operator_names() { return kOperatorNames; }

PyObject* operator_ufunc(Operator slot) { return slots[static_cast<int>(slot)]; }

void set_operator(const char* name, PyObject* ufunc) {
  get_ufunc("set_operator", ufunc);
  Py_XSETREF(named(name), Py_NewRef(ufunc));
}

}  // namespace forerun
