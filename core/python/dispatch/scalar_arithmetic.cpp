#include "python/dispatch/scalar_arithmetic.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "array/array.h"
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

// The value of a scalar or of a number of Python's, which has fewer kinds of values than T. False: it is none, or not
// there.
template <class T>
bool read(PyObject* o, T* value) {
  if constexpr (std::is_same_v<T, double>)
    if (Py_IS_TYPE(o, &PyDoubleArrType_Type)) return *value = PyArrayScalar_VAL(o, Double), true;
  if constexpr (std::is_same_v<T, float>)
    if (Py_IS_TYPE(o, &PyFloatArrType_Type)) return *value = PyArrayScalar_VAL(o, Float), true;
  if constexpr (!std::is_same_v<T, float>)
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
    long long whole = PyLong_AsLongLongAndOverflow(o, &beyond);
    constexpr long long kExact = 1LL << 53;  // beyond, a number might be rounded twice
    if (beyond || (!std::is_same_v<T, int64_t> && (whole > kExact || whole < -kExact))) return false;
    return *value = static_cast<T>(whole), true;
  }
  if constexpr (!std::is_same_v<T, int64_t>) {
    if (PyFloat_CheckExact(o)) return *value = static_cast<T>(PyFloat_AS_DOUBLE(o)), true;
  }
  return false;
}

template <class T>
PyObject* scalar_of(T value, DType t, MemoryBudget* budget) {
  ++Engine::get().at_once.count;
  return scalar_at_once(t, budget, &value);
}

template <class T>
PyObject* calculated(Operator which, PyObject* a, PyObject* b, DType t, MemoryBudget* budget) {
  using Wraps = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;
  T x, y;
  if (!read(a, &x) || !read(b, &y)) return nullptr;
  const Wraps p = static_cast<Wraps>(x), q = static_cast<Wraps>(y);
  switch (which) {
    case Operator::add: return scalar_of(static_cast<T>(p + q), t, budget);
    case Operator::subtract: return scalar_of(static_cast<T>(p - q), t, budget);
    case Operator::multiply: return scalar_of(static_cast<T>(p * q), t, budget);
    case Operator::divide:
      return std::is_same_v<T, int64_t>
                 ? nullptr
                 : scalar_of(static_cast<T>(x / (std::is_same_v<T, int64_t> ? T(1) : y)), t, budget);
    case Operator::less: return scalar_of(x < y, DType::b1, budget);
    case Operator::less_equal: return scalar_of(x <= y, DType::b1, budget);
    case Operator::greater: return scalar_of(x > y, DType::b1, budget);
    case Operator::greater_equal: return scalar_of(x >= y, DType::b1, budget);
    case Operator::equal: return scalar_of(x == y, DType::b1, budget);
    case Operator::not_equal: return scalar_of(x != y, DType::b1, budget);
    default: return nullptr;
  }
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
    if (t == DType::f64) return calculated<double>(which, a, b, t, budget);
    if (t == DType::f32) return calculated<float>(which, a, b, t, budget);
    return t == DType::i64 ? calculated<int64_t>(which, a, b, t, budget) : nullptr;
  });
}

}  // namespace forerun
