#include "python/array/operators.h"

#include <span>

#include "array/array.h"
#include "python/direct/matmul.h"
#include "python/dispatch/fallback.h"
#include "python/dispatch/operator_table.h"
#include "python/dispatch/scalar_arithmetic.h"
#include "python/dispatch/ufunc_call.h"
#include "python/front_end.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/plain.h"
#include "python/object/scalar.h"
#include "python/runtime/interpreter/package_functions.h"

namespace forerun {

namespace {

// Whether it is an array of NumPy's. While forerun replaces NumPy, its subclasses have operators of their own, such as
// the product of matrices.
bool is_numpy_array(PyObject* o) { return PyArray_Check(o) && !(numpy_rules && is_derived(o)); }

bool is_operand(PyObject* o) {
  return is_array(o) || PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) || PyComplex_CheckExact(o) ||
         is_numpy_array(o) || PyArray_IsScalar(o, Generic);
}

// op(a, b) with lists as arrays, into `out` if it is not null.
PyObject* call_binary(Operator which, PyObject* a, PyObject* b, PyObject* out) {
  if (!out && (is_scalar(a) || is_scalar(b)))
    if (PyObject* result = calculated_at_once(which, a, b); result || PyErr_Occurred()) return result;
  if (!out && numpy_rules && is_derived(b)) Py_RETURN_NOTIMPLEMENTED;  // its class decides
  const char* name = operator_names()[static_cast<int>(which)];
  if (!(is_operand(a) || is_list(a)) || !(is_operand(b) || is_list(b))) return syntax_fallback(name, {a, b}, out);
  PyObject* inputs[2] = {a, b};
  UfuncObject* op = is_list(a) || is_list(b) ? reinterpret_cast<UfuncObject*>(operator_ufunc(which)) : nullptr;
  if (!op) return call_operator(which, inputs, 2, out);
  PyObject* result = call_with_arrays(op, inputs, out, nullptr);
  return result ? result : syntax_fallback(name, {a, b}, out);
}

template <Operator which>
PyObject* binary(PyObject* a, PyObject* b) {
  return call_binary(which, a, b, nullptr);
}

template <Operator which>
PyObject* in_place(PyObject* a, PyObject* b) {
  return call_binary(which, a, b, is_scalar(a) ? nullptr : a);
}

// As NumPy's, an integer scalar repeats lists and tuples: sequences do so if this returns NotImplemented.
bool repeats(PyObject* list, PyObject* times) {
  return is_scalar(times) && is_list(list) && is_integer(as_array(times)->array.layout.dtype);
}

PyObject* multiply(PyObject* a, PyObject* b) {
  if (repeats(a, b) || repeats(b, a)) Py_RETURN_NOTIMPLEMENTED;
  return call_binary(Operator::multiply, a, b, nullptr);
}

template <Operator which>
PyObject* unary(PyObject* a) {
  if ((which == Operator::negative || which == Operator::absolute) && is_scalar(a))
    if (PyObject* result = calculated_at_once(which, a); result || PyErr_Occurred()) return result;
  return call_operator(which, &a, 1, nullptr);
}

bool equals_two(PyObject* integer) {
  int overflow = 0;
  return PyLong_AsLongAndOverflow(integer, &overflow) == 2;
}

// Powers of arrays for which NumPy's operator calls another function, which is faster and may differ in the last bits.
Operator power_operator(PyObject* a, PyObject* b) {
  bool number = PyFloat_CheckExact(b) || PyLong_CheckExact(b);
  if (!number || !is_array(a)) return Operator::power;
  const DType dtype = as_array(a)->array.layout.dtype;
  if (is_integer(dtype) && PyLong_CheckExact(b)) return equals_two(b) ? Operator::square : Operator::power;
  if (!is_inexact(dtype) || is_scalar(a)) return Operator::power;
  double exponent = PyFloat_AsDouble(b);
  if (exponent == -1 && PyErr_Occurred()) {  // the integer is too large
    PyErr_Clear();
    return Operator::power;
  }
  if (exponent == 0.5) return Operator::sqrt;
  if (is_complex(dtype) && PyFloat_CheckExact(b)) return Operator::power;
  return exponent == 2 ? Operator::square : exponent == -1 ? Operator::reciprocal : Operator::power;
}

// Raises NumPy's error for integers raised to a negative integer during the call; otherwise a read would raise it.
bool refused_power(PyObject* a, PyObject* b) {
  if (!numpy_rules || !is_array(a) || !PyLong_CheckExact(b) || !is_integer(layout_of(a).dtype)) return false;
  int overflow = 0;
  if (PyLong_AsLongAndOverflow(b, &overflow) >= 0 && overflow >= 0) return false;
  PyErr_SetString(PyExc_ValueError, "Integers to negative integer powers are not allowed.");
  return true;
}

PyObject* power(PyObject* a, PyObject* b, PyObject*) {
  if (refused_power(a, b)) return nullptr;
  Operator which = power_operator(a, b);
  if (which != Operator::power && is_scalar(a))
    if (PyObject* result = calculated_at_once(which, a); result || PyErr_Occurred()) return result;
  return which == Operator::power ? binary<Operator::power>(a, b) : call_operator(which, &a, 1, nullptr);
}
PyObject* in_place_power(PyObject* a, PyObject* b, PyObject*) {
  if (refused_power(a, b)) return nullptr;
  Operator which = power_operator(a, b);
  return which == Operator::power ? in_place<Operator::power>(a, b)
                                  : call_operator(which, &a, 1, is_scalar(a) ? nullptr : a);
}

PyObject* matmul(PyObject* a, PyObject* b) {
  if (numpy_rules && is_derived(b)) Py_RETURN_NOTIMPLEMENTED;  // its class does that
  const auto is_operand = [](PyObject* o) { return is_array(o) || is_numpy_array(o); };
  const bool plain = is_operand(a) && is_operand(b), listed = numpy_rules && (is_list(a) || is_list(b));
  PyObject* product = plain || listed ? matmul_directly(a, b) : nullptr;
  if (plain && !product && !PyErr_Occurred()) product = call_package(PackageFunction::matmul, a, b, nullptr);
  return product ? product : syntax_fallback("matmul", {a, b});
}

PyObject* compare(PyObject* a, PyObject* b, int how) {
  const Operator operators[] = {Operator::less,      Operator::less_equal, Operator::equal,
                                Operator::not_equal, Operator::greater,    Operator::greater_equal};
  return call_binary(operators[how], a, b, nullptr);
}

#define FN(f) reinterpret_cast<void*>(f)
const PyType_Slot slots[] = {
    {Py_tp_richcompare, FN(exclusive<compare>)},
    {Py_nb_add, FN(exclusive<binary<Operator::add>>)},
    {Py_nb_subtract, FN(exclusive<binary<Operator::subtract>>)},
    {Py_nb_multiply, FN(exclusive<multiply>)},
    {Py_nb_true_divide, FN(exclusive<binary<Operator::divide>>)},
    {Py_nb_floor_divide, FN(exclusive<binary<Operator::floor_divide>>)},
    {Py_nb_remainder, FN(exclusive<binary<Operator::remainder>>)},
    {Py_nb_power, FN(exclusive<power>)},
    {Py_nb_and, FN(exclusive<binary<Operator::bitwise_and>>)},
    {Py_nb_or, FN(exclusive<binary<Operator::bitwise_or>>)},
    {Py_nb_xor, FN(exclusive<binary<Operator::bitwise_xor>>)},
    {Py_nb_lshift, FN(exclusive<binary<Operator::left_shift>>)},
    {Py_nb_rshift, FN(exclusive<binary<Operator::right_shift>>)},
    {Py_nb_inplace_add, FN(exclusive<in_place<Operator::add>>)},
    {Py_nb_inplace_subtract, FN(exclusive<in_place<Operator::subtract>>)},
    {Py_nb_inplace_multiply, FN(exclusive<in_place<Operator::multiply>>)},
    {Py_nb_inplace_true_divide, FN(exclusive<in_place<Operator::divide>>)},
    {Py_nb_inplace_floor_divide, FN(exclusive<in_place<Operator::floor_divide>>)},
    {Py_nb_inplace_remainder, FN(exclusive<in_place<Operator::remainder>>)},
    {Py_nb_inplace_power, FN(exclusive<in_place_power>)},
    {Py_nb_inplace_and, FN(exclusive<in_place<Operator::bitwise_and>>)},
    {Py_nb_inplace_or, FN(exclusive<in_place<Operator::bitwise_or>>)},
    {Py_nb_inplace_xor, FN(exclusive<in_place<Operator::bitwise_xor>>)},
    {Py_nb_inplace_lshift, FN(exclusive<in_place<Operator::left_shift>>)},
    {Py_nb_inplace_rshift, FN(exclusive<in_place<Operator::right_shift>>)},
    {Py_nb_negative, FN(exclusive<unary<Operator::negative>>)},
    {Py_nb_positive, FN(exclusive<unary<Operator::positive>>)},
    {Py_nb_absolute, FN(exclusive<unary<Operator::absolute>>)},
    {Py_nb_invert, FN(exclusive<unary<Operator::invert>>)},
    {Py_nb_matrix_multiply, FN(exclusive<matmul>)},
};
#undef FN

}  // namespace

std::span<const PyType_Slot> operator_slots() { return slots; }

}  // namespace forerun
