#include "python/dispatch/scalar_arithmetic.h"

#include <cmath>
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
#include "python/object/conversion/dtypes.h"
#include "python/object/plain.h"
#include "python/object/scalar.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"

namespace forerun {

namespace {

// The value of an operand of at most eight bytes.
class Number {
 public:
  // False: it is neither a scalar nor a Python number, is still being computed, is recorded, or is too large.
  bool read(PyObject* o) {
    if (PyFloat_CheckExact(o)) return weak = true, set(DType::f64, PyFloat_AS_DOUBLE(o));
    if (is_scalar(o)) return read_scalar(plain_values(o));
    if (PyLong_CheckExact(o)) {
      int beyond = 0;
      const long long value = PyLong_AsLongLongAndOverflow(o, &beyond);
      return weak = true, !beyond && set(DType::i64, static_cast<int64_t>(value));
    }
    if (Py_IS_TYPE(o, &PyDoubleArrType_Type)) return set(DType::f64, PyArrayScalar_VAL(o, Double));
    if (Py_IS_TYPE(o, &PyFloatArrType_Type)) return set(DType::f32, PyArrayScalar_VAL(o, Float));
    return Py_IS_TYPE(o, &PyInt64ArrType_Type) && set(DType::i64, static_cast<int64_t>(PyArrayScalar_VAL(o, Int64)));
  }

  template <class T>
  T as() const {
    T value;
    std::memcpy(&value, bytes_, sizeof value);
    return value;
  }

  // Next to another number, a bool counts as 0 or 1.
  void count() {
    if (dtype == DType::b1) set(DType::i64, static_cast<int64_t>(as<bool>()));
  }

  // Casts it to another dtype. False: the value could change.
  bool cast(DType to) {
    if (dtype == to) return true;
    bool done = false;
    with_real(dtype, [&]<class From>(From) { with_real(to, [&]<class To>(To) { done = cast_as<From, To>(to); }); });
    return done;
  }

  DType dtype = DType::f64;
  bool weak = false;  // a Python number, whose dtype follows that of the other operand

 private:
  template <class T>
  bool set(DType t, T value) {
    dtype = t;
    std::memcpy(bytes_, &value, sizeof value);
    return true;
  }

  bool read_scalar(const Array* scalar) {
    const char* from = scalar ? values_at_once(*scalar) : nullptr;
    if (!from) return false;
    dtype = scalar->layout.dtype;
    const size_t size = item_size(dtype);
    if (size == sizeof bytes_) return std::memcpy(bytes_, from, sizeof bytes_), true;
    return size < sizeof bytes_ && (std::memcpy(bytes_, from, size), true);
  }

  template <class From, class To>
  bool cast_as(DType to) {
    const From value = as<From>();
    if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
      if (!std::in_range<To>(value)) return false;
    } else if constexpr (std::is_integral_v<To>) {
      return false;
    } else if constexpr (std::is_integral_v<From>) {
      constexpr int64_t kExact = int64_t{1} << 53;  // a larger Python number might be rounded twice
      if (weak && (std::cmp_greater(value, kExact) || std::cmp_less(value, -kExact))) return false;
    }
    return set(to, static_cast<To>(value));
  }

  unsigned char bytes_[sizeof(int64_t)] = {};
};

// Casts both to the dtype of the calculation. False: an operation must determine it.
bool promote(Number& a, Number& b) {
  if (a.dtype == b.dtype && a.weak == b.weak) return true;
  if (a.dtype != b.dtype) a.count(), b.count();
  if (a.weak != b.weak) {
    Number &weak = a.weak ? a : b, &strong = a.weak ? b : a;
    if (weak.dtype == DType::f64 && is_integer(strong.dtype))
      return default_float == DType::f64 && strong.cast(DType::f64);
    return weak.cast(strong.dtype);
  }
  const bool mixed =
      (a.dtype == DType::f64 && b.dtype == DType::i64) || (a.dtype == DType::i64 && b.dtype == DType::f64);
  return mixed && a.cast(DType::f64) && b.cast(DType::f64);
}

PyObject* scalar_of(const void* value, DType t, MemoryBudget* budget) {
  ++Engine::get().at_once.count;
  return scalar_at_once(t, budget, value);
}

PyObject* truth_of(bool value, MemoryBudget* budget) {
  ++Engine::get().at_once.count;
  return truth_at_once(value, budget);
}

// a op b, as a bool. Null: another operator.
template <class T>
PyObject* compared(Operator which, T a, T b, MemoryBudget* budget) {
  switch (which) {
    case Operator::less: return truth_of(a < b, budget);
    case Operator::less_equal: return truth_of(a <= b, budget);
    case Operator::greater: return truth_of(a > b, budget);
    case Operator::greater_equal: return truth_of(a >= b, budget);
    case Operator::equal: return truth_of(a == b, budget);
    case Operator::not_equal: return truth_of(a != b, budget);
    default: return nullptr;
  }
}

PyObject* calculated(Operator which, bool x, bool y, DType, MemoryBudget* budget) {
  switch (which) {
    case Operator::bitwise_and: return truth_of(x && y, budget);
    case Operator::bitwise_or: return truth_of(x || y, budget);
    case Operator::bitwise_xor: return truth_of(x != y, budget);
    default: return compared(which, x, y, budget);
  }
}

template <class T>
  requires std::is_floating_point_v<T>
PyObject* calculated(Operator which, T x, T y, DType t, MemoryBudget* budget) {
  T result;
  switch (which) {
    case Operator::add: result = x + y; break;
    case Operator::subtract: result = x - y; break;
    case Operator::multiply: result = x * y; break;
    case Operator::divide: result = x / y; break;
    default: return compared(which, x, y, budget);
  }
  return scalar_of(&result, t, budget);
}

// The same for integers, which wrap around.
template <class T>
  requires std::is_integral_v<T>
PyObject* calculated(Operator which, T x, T y, DType t, MemoryBudget* budget) {
  T result;
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
    case Operator::divide:
      if (default_float != DType::f64) return nullptr;
      return calculated(which, static_cast<double>(x), static_cast<double>(y), DType::f64, budget);
    default: return compared(which, x, y, budget);
  }
  return scalar_of(&result, t, budget);
}

// -x, |x|, its square or its square root. Null: another operator.
template <class T>
PyObject* calculated(Operator which, T x, DType t, MemoryBudget* budget) {
  T result;
  if constexpr (std::is_integral_v<T>) {
    const auto p = static_cast<uint64_t>(x);  // wraps around
    switch (which) {
      case Operator::negative: result = static_cast<T>(-p); break;
      case Operator::absolute: result = x < 0 ? static_cast<T>(-p) : x; break;
      case Operator::square: result = static_cast<T>(p * p); break;
      default: return nullptr;
    }
  } else {
    switch (which) {
      case Operator::negative: result = -x; break;
      case Operator::absolute: result = std::fabs(x); break;
      case Operator::square: result = x * x; break;
      case Operator::sqrt: result = std::sqrt(x); break;
      default: return nullptr;
    }
  }
  return scalar_of(&result, t, budget);
}

}  // namespace

PyObject* calculated_at_once(Operator which, PyObject* a, PyObject* b) {
  Number x, y;
  if (!may_work_at_once() || !x.read(a) || !y.read(b) || !promote(x, y)) return nullptr;
  PyObject* const one = is_scalar(a) ? a : b;
  if (one == a && is_scalar(b) && as_array(a)->device != as_array(b)->device) return nullptr;
  MemoryBudget* budget = as_array(one)->array.storage()->budget;
  return guarded([&]() -> PyObject* {
    if (x.dtype == DType::b1) return calculated(which, x.as<bool>(), y.as<bool>(), x.dtype, budget);
    PyObject* result = nullptr;
    with_real(x.dtype, [&]<class T>(T) { result = calculated(which, x.as<T>(), y.as<T>(), x.dtype, budget); });
    return result;
  });
}

PyObject* calculated_at_once(Operator which, PyObject* a) {
  Number x;
  if (!may_work_at_once() || !x.read(a)) return nullptr;
  return guarded([&] {
    PyObject* result = nullptr;
    MemoryBudget* budget = as_array(a)->array.storage()->budget;
    with_real(x.dtype, [&]<class T>(T) { result = calculated(which, x.as<T>(), x.dtype, budget); });
    return result;
  });
}

}  // namespace forerun
