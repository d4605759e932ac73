#include "python/dispatch/scalar_arithmetic.h"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "array/array.h"
#include "cpu/loops/item.h"
#include "engine/engine.h"
#include "python/dispatch/operator_table.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/node.h"
#include "python/object/scalar.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"

namespace forerun {

namespace {

// The dtype of a scalar, forerun's or NumPy's. False: it is none of these.
bool scalar_dtype(PyObject* o, DType* t) {
  if (is_scalar(o)) return *t = as_array(o)->array.layout.dtype, as_array(o)->array.storage() != nullptr;
  if (Py_IS_TYPE(o, &PyDoubleArrType_Type)) return *t = DType::f64, true;
  if (Py_IS_TYPE(o, &PyFloatArrType_Type)) return *t = DType::f32, true;
  return Py_IS_TYPE(o, &PyInt64ArrType_Type) ? (*t = DType::i64, true) : false;
}

// The value of a scalar or of a number of Python's as a T, which holds it. False: it is none, or is still computed.
template <class T>
bool read(PyObject* o, T* value) {
  if constexpr (std::is_same_v<T, double>)
    if (Py_IS_TYPE(o, &PyDoubleArrType_Type)) return *value = PyArrayScalar_VAL(o, Double), true;
  if constexpr (std::is_same_v<T, float>)
    if (Py_IS_TYPE(o, &PyFloatArrType_Type)) return *value = PyArrayScalar_VAL(o, Float), true;
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, int64_t>)
    if (Py_IS_TYPE(o, &PyInt64ArrType_Type)) return *value = static_cast<T>(PyArrayScalar_VAL(o, Int64)), true;
  if (is_scalar(o)) {
    const Array& a = as_array(o)->array;
    const char* from = values_at_once(a);
    if (!from) return false;
    if constexpr (std::is_same_v<T, double>) {
      if (a.layout.dtype == DType::i64) {
        int64_t whole;
        std::memcpy(&whole, from, sizeof whole);
        return *value = static_cast<double>(whole), true;
      }
    }
    std::memcpy(value, from, sizeof *value);
    return true;
  }
  if (PyLong_CheckExact(o)) {
    int beyond = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(o, &beyond);
    if (beyond) return false;
    *value = static_cast<T>(whole);
    if constexpr (std::is_integral_v<T>) return std::in_range<T>(whole);
    constexpr long long kExact = 1LL << 53;  // beyond, a number might be rounded twice
    return whole <= kExact && whole >= -kExact;
  }
  if constexpr (std::is_floating_point_v<T>)
    if (PyFloat_CheckExact(o)) return *value = static_cast<T>(PyFloat_AS_DOUBLE(o)), true;
  return false;
}

PyObject* scalar_of(const void* value, DType t, MemoryBudget* budget) {
  ++Engine::get().at_once.count;
  return scalar_at_once(t, budget, value);
}

// a op b, as a bool. Null: another operator.
template <class T>
PyObject* compared(Operator which, T a, T b, MemoryBudget* budget) {
  bool holds;
  switch (which) {
    case Operator::less: holds = a < b; break;
    case Operator::less_equal: holds = a <= b; break;
    case Operator::greater: holds = a > b; break;
    case Operator::greater_equal: holds = a >= b; break;
    case Operator::equal: holds = a == b; break;
    case Operator::not_equal: holds = a != b; break;
    default: return nullptr;
  }
  return scalar_of(&holds, DType::b1, budget);
}

template <class T>
PyObject* calculated(Operator which, PyObject* a, PyObject* b, DType t, MemoryBudget* budget) {
  T x, y, result;
  if (!read(a, &x) || !read(b, &y)) return nullptr;
  switch (which) {
    case Operator::add: result = x + y; break;
    case Operator::subtract: result = x - y; break;
    case Operator::multiply: result = x * y; break;
    case Operator::divide: result = x / y; break;
    default: return compared(which, x, y, budget);
  }
  return scalar_of(&result, t, budget);
}

// The same of integers, which wrap around.
template <class T>
PyObject* calculated_whole(Operator which, PyObject* a, PyObject* b, DType t, MemoryBudget* budget) {
  T x, y, result;
  if (!read(a, &x) || !read(b, &y)) return nullptr;
  const auto p = static_cast<uint64_t>(x), q = static_cast<uint64_t>(y);
  const bool divides = y != 0 && !(std::is_signed_v<T> && y == static_cast<T>(-1)), shifts = q < 8 * sizeof(T);
  const bool opposite = (x < 0) != (y < 0);
  switch (which) {
    case Operator::add: result = static_cast<T>(p + q); break;
    case Operator::subtract: result = static_cast<T>(p - q); break;
    case Operator::multiply: result = static_cast<T>(p * q); break;
    case Operator::bitwise_and: result = static_cast<T>(p & q); break;
    case Operator::bitwise_or: result = static_cast<T>(p | q); break;
    case Operator::bitwise_xor: result = static_cast<T>(p ^ q); break;
    case Operator::left_shift:
      if (!shifts) return nullptr;
      result = static_cast<T>(p << q);
      break;
    case Operator::right_shift:
      if (!shifts) return nullptr;
      result = static_cast<T>(x >> q);
      break;
    case Operator::floor_divide:
      if (!divides) return nullptr;
      result = static_cast<T>(x / y - (opposite && x % y != 0));
      break;
    case Operator::remainder:
      if (!divides) return nullptr;
      result = static_cast<T>(x % y + (opposite && x % y != 0 ? y : 0));
      break;
    default: return compared(which, x, y, budget);
  }
  return scalar_of(&result, t, budget);
}

}  // namespace

PyObject* calculated_at_once(Operator which, PyObject* a, PyObject* b) {
  DType t, other;
  const bool x = scalar_dtype(a, &t), y = scalar_dtype(b, x ? &other : &t);
  if ((!x && !PyFloat_CheckExact(a) && !PyLong_CheckExact(a)) ||
      (!y && !PyFloat_CheckExact(b) && !PyLong_CheckExact(b)))
    return nullptr;
  if (on_tape(a) || on_tape(b) || !may_work_at_once()) return nullptr;
  if (x && y) {
    if (is_scalar(a) && is_scalar(b) && as_array(a)->device != as_array(b)->device) return nullptr;
    bool mixed = (t == DType::f64 && other == DType::i64) || (t == DType::i64 && other == DType::f64);
    if (t != other && !mixed) return nullptr;
    if (mixed) t = DType::f64;
  }
  MemoryBudget* budget = as_array(is_scalar(a) ? a : b)->array.storage()->budget;
  return guarded([&]() -> PyObject* {
    PyObject* result = nullptr;
    with_real(t, [&]<class T>(T) {
      if constexpr (std::is_integral_v<T>)
        result = calculated_whole<T>(which, a, b, t, budget);
      else
        result = calculated<T>(which, a, b, t, budget);
    });
    return result;
  });
}

PyObject* negated_at_once(PyObject* a) {
  const Array& scalar = as_array(a)->array;
  if (on_tape(a) || !may_work_at_once() || !scalar.storage()) return nullptr;
  return guarded([&] {
    PyObject* result = nullptr;
    with_real(scalar.layout.dtype, [&]<class T>(T value) {
      if (!read(a, &value)) return;
      if constexpr (std::is_integral_v<T>)
        value = static_cast<T>(-static_cast<uint64_t>(value));  // wraps around
      else
        value = -value;
      result = scalar_of(&value, scalar.layout.dtype, scalar.storage()->budget);
    });
    return result;
  });
}

}  // namespace forerun
