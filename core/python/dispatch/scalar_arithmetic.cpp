#include "python/dispatch/scalar_arithmetic.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "array/array.h"
#include "engine/engine.h"
#include "python/dispatch/operator_table.h"
#include "python/object/array_object.h"
#include "python/object/node.h"
#include "python/object/scalar.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"

namespace forerun {

namespace {

// The value of a scalar or of a number of Python's, which has fewer kinds of values than T. False: it is none, or not
// there.
template <class T>
bool read(PyObject* o, T* value) {
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
  const Array *x = is_scalar(a) ? &as_array(a)->array : nullptr, *y = is_scalar(b) ? &as_array(b)->array : nullptr;
  if ((!x && !PyFloat_CheckExact(a) && !PyLong_CheckExact(a)) ||
      (!y && !PyFloat_CheckExact(b) && !PyLong_CheckExact(b)))
    return nullptr;
  if ((x && !x->storage()) || (y && !y->storage()) || on_tape(a) || on_tape(b) || !may_work_at_once()) return nullptr;
  const Array& one = x ? *x : *y;
  DType t = one.layout.dtype;
  if (x && y) {
    if (as_array(a)->device != as_array(b)->device) return nullptr;
    DType other = y->layout.dtype;
    bool mixed = (t == DType::f64 && other == DType::i64) || (t == DType::i64 && other == DType::f64);
    if (t != other && !mixed) return nullptr;
    if (mixed) t = DType::f64;
  }
  MemoryBudget* budget = one.storage()->budget;
  return guarded([&]() -> PyObject* {
    if (t == DType::f64) return calculated<double>(which, a, b, t, budget);
    if (t == DType::f32) return calculated<float>(which, a, b, t, budget);
    return t == DType::i64 ? calculated<int64_t>(which, a, b, t, budget) : nullptr;
  });
}

}  // namespace forerun
