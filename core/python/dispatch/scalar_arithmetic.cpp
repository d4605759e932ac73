#include "python/dispatch/scalar_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "array/array.h"
#include "cpu/loops/item.h"
#include "engine/engine.h"
#include "python/dispatch/loops/promotion.h"
#include "python/dispatch/loops/scalar_loops.h"
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

template <class T>
constexpr bool is_complex_number = false;
template <class T>
constexpr bool is_complex_number<std::complex<T>> = true;

// with_real() for complex numbers, too.
template <class F>
void with_number(DType t, F f) {
  if (t == DType::c64)
    f(std::complex<float>{});
  else if (t == DType::c128)
    f(std::complex<double>{});
  else
    with_real(t, f);
}

// The value of an operand.
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
    if (PyComplex_CheckExact(o)) {
      const Py_complex value = PyComplex_AsCComplex(o);
      return weak = true, set(DType::c128, std::complex<double>(value.real, value.imag));
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
    with_number(dtype, [&]<class From>(From) { with_number(to, [&]<class To>(To) { done = cast_as<From, To>(to); }); });
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
    if (size == sizeof(int64_t)) return std::memcpy(bytes_, from, sizeof(int64_t)), true;
    return size <= sizeof bytes_ && (std::memcpy(bytes_, from, size), true);
  }

  template <class From, class To>
  bool cast_as(DType to) {
    const From value = as<From>();
    if constexpr (is_complex_number<From> && is_complex_number<To>) {
      return set(to, To(value));
    } else if constexpr (is_complex_number<From>) {
      return false;
    } else if constexpr (is_complex_number<To>) {
      using Part = typename To::value_type;
      return cast_as<From, Part>(sizeof(Part) == sizeof(float) ? DType::f32 : DType::f64) && set(to, To(as<Part>()));
    } else {
      return cast_real<From, To>(value, to);
    }
  }

  template <class From, class To>
  bool cast_real(From value, DType to) {
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

  unsigned char bytes_[sizeof(std::complex<double>)] = {};
};

bool is_double(DType t) { return t == DType::f64 || t == DType::c128; }

// Casts both to the dtype of the calculation. False: an operation must determine it.
bool promote(Number& a, Number& b) {
  if (a.dtype == b.dtype && a.weak == b.weak) return true;
  if (a.dtype != b.dtype) a.count(), b.count();
  if (a.weak != b.weak) {
    Number &weak = a.weak ? a : b, &strong = a.weak ? b : a;
    if (weak.dtype == DType::f64 && is_integer(strong.dtype))
      return default_float == DType::f64 && strong.cast(DType::f64);
    if (is_complex(weak.dtype) && (strong.dtype == DType::f32 || strong.dtype == DType::f64)) {
      const DType to = promote(strong.dtype, DType::c64);
      return weak.cast(to) && strong.cast(to);
    }
    return weak.cast(strong.dtype);
  }
  auto has_4_or_8 = [](DType t) { return t == DType::f32 || t == DType::c64 || is_double(t); };
  if (has_4_or_8(a.dtype) && has_4_or_8(b.dtype)) {
    const DType to = promote(a.dtype, b.dtype);
    return a.cast(to) && b.cast(to);
  }
  auto is_wide = [](DType t) { return t == DType::i64 || is_double(t); };
  const DType to = std::max(a.dtype, b.dtype);
  return is_wide(a.dtype) && is_wide(b.dtype) && a.cast(to) && b.cast(to);
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
    case Operator::power: result = std::pow(x, y); break;
    default: return compared(which, x, y, budget);
  }
  return scalar_of(&result, t, budget);
}

// The same for complex numbers, with the products of NumPy's scalars.
template <class T>
PyObject* calculated(Operator which, std::complex<T> x, std::complex<T> y, DType t, MemoryBudget* budget) {
  std::complex<T> result;
  switch (which) {
    case Operator::add: result = x + y; break;
    case Operator::subtract: result = x - y; break;
    case Operator::multiply: result = product(x, y); break;
    case Operator::equal: return truth_of(x == y, budget);
    case Operator::not_equal: return truth_of(x != y, budget);
    default: return nullptr;
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

// -x, |x| or, of an integer, its square. Null: another operator.
template <class T>
PyObject* calculated(Operator which, T x, DType t, MemoryBudget* budget) {
  T result;
  if constexpr (is_complex_number<T>) {
    if (which == Operator::absolute) {
      const auto size = std::hypot(x.real(), x.imag());
      return scalar_of(&size, t == DType::c64 ? DType::f32 : DType::f64, budget);
    }
    if (which != Operator::negative) return nullptr;
    result = -x;
  } else if constexpr (std::is_integral_v<T>) {
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
      default: return nullptr;
    }
  }
  return scalar_of(&result, t, budget);
}

}  // namespace

PyObject* calculated_at_once(Operator which, PyObject* a, PyObject* b) {
  Number x, y;
  if (!may_work_at_once() || !x.read(a) || !y.read(b)) return nullptr;
  const bool typed = (!x.weak && !is_integer(x.dtype)) || (!y.weak && !is_integer(y.dtype));
  if (!promote(x, y)) return nullptr;
  if (which == Operator::power && !typed) return nullptr;  // it may need a loop over arrays
  PyObject* const one = is_scalar(a) ? a : b;
  if (one == a && is_scalar(b) && as_array(a)->device != as_array(b)->device) return nullptr;
  MemoryBudget* budget = as_array(one)->array.storage()->budget;
  return guarded([&]() -> PyObject* {
    if (x.dtype == DType::b1) return calculated(which, x.as<bool>(), y.as<bool>(), x.dtype, budget);
    PyObject* result = nullptr;
    with_number(x.dtype, [&]<class T>(T) { result = calculated(which, x.as<T>(), y.as<T>(), x.dtype, budget); });
    return result;
  });
}

PyObject* calculated_at_once(Operator which, PyObject* a) {
  Number x;
  if (!may_work_at_once() || !x.read(a)) return nullptr;
  return guarded([&] {
    PyObject* result = nullptr;
    MemoryBudget* budget = as_array(a)->array.storage()->budget;
    with_number(x.dtype, [&]<class T>(T) { result = calculated(which, x.as<T>(), x.dtype, budget); });
    return result;
  });
}

}  // namespace forerun
