// The ufuncs behind Python's operators.
#pragma once
#include <Python.h>

#include <span>

namespace forerun {

enum class Operator {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  remainder,
  power,
  negative,
  positive,
  absolute,
  invert,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  left_shift,
  right_shift,
  less,
  less_equal,
  equal,
  not_equal,
  greater,
  greater_equal,
  square,
  sqrt,
  reciprocal,
  count
};
PyObject* call_operator(Operator which, PyObject* const* inputs, Py_ssize_t n, PyObject* out);
PyObject* operator_ufunc(Operator which);  // borrowed; null: no ufunc is registered
void set_operator(const char* name, PyObject* ufunc);
std::span<const char* const> operator_names();

}  // namespace forerun
