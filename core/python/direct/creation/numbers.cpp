#include "python/direct/creation/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/scalar.h"
#include "cpu/loops/item.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/numpy_api.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/python_scalars.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

bool dtype_of_scalar(PyObject* value, DType* t) {
  return PyArray_CheckScalar(value) && dtype_of_class(reinterpret_cast<PyObject*>(Py_TYPE(value)), t);
}

bool takes_scalar(DType t, PyObject* value) {
  DType own;
  if (t == DType::bf16 || !dtype_of_scalar(value, &own)) return false;
  return own == t || (t == DType::f64 && (own == DType::i64 || own == DType::f32));
}

bool takes_number(DType t, PyObject* value) {
  if (PyBool_Check(value) || PyLong_CheckExact(value)) return true;
  if (PyFloat_CheckExact(value)) return is_inexact(t);
  return (PyComplex_CheckExact(value) && is_complex(t)) || takes_scalar(t, value);
}

namespace {

// Converts a number, if it fits: a float to the integer without its fraction.
template <class From, class To>
bool convert(From value, To* to) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    if (!std::in_range<To>(value)) return false;
  } else if constexpr (std::is_integral_v<To>) {
    const double low = static_cast<double>(std::numeric_limits<To>::min()),
                 beyond = std::ldexp(1.0, std::numeric_limits<To>::digits);
    if (!(static_cast<double>(value) > low - 1 && static_cast<double>(value) < beyond)) return false;
  } else if constexpr (sizeof(To) < sizeof(From) && std::is_floating_point_v<From>) {
    if (!fits_float(value)) return false;
  }
  *to = static_cast<To>(value);
  return true;
}

}  // namespace

bool convert_element(DType from, const char* data, DType t, unsigned char* bytes) {
  if (from == t) return std::memcpy(bytes, data, item_size(t)), true;
  const DType part = t == DType::c128 ? DType::f64 : t == DType::c64 ? DType::f32 : t;
  bool fits = false;
  auto put = [&](auto value) {
    if (part == DType::b1) fits = true, bytes[0] = value != 0;
    with_real(part, [&](auto to) {
      fits = convert(value, &to);
      std::memset(bytes, 0, item_size(t));
      std::memcpy(bytes, &to, sizeof to);
    });
  };
  if (from == DType::b1)
    put(static_cast<uint8_t>(*data != 0));
  else
    with_real(from, [&]<class T>(T) { put(load<T>(data)); });
  return fits;
}

PyObject* converted_number(PyObject* value, DType t) {
  alignas(16) char data[16];
  DType from = DType::f64;
  Scalar scalar;
  if (PyFloat_CheckExact(value)) {
    const double number = PyFloat_AS_DOUBLE(value);
    std::memcpy(data, &number, sizeof number);
  } else {
    if (!dtype_of_scalar(value, &from)) return nullptr;
    PyArray_ScalarAsCtype(value, data);
  }
  return convert_element(from, data, t, scalar.bytes) ? scalar_at(t, reinterpret_cast<const char*>(scalar.bytes))
                                                      : nullptr;
}

bool is_exact_as_double(PyObject* integer) {
  constexpr long long kExact = 1LL << 53;
  int beyond = 0;
  const long long n = PyLong_AsLongLongAndOverflow(integer, &beyond);
  return !beyond && n <= kExact && n >= -kExact;
}

bool fits_float(double value) { return !(std::abs(value) > std::numeric_limits<float>::max()) || std::isinf(value); }

Array numbers_at_once(PyObject* const* values, const Dims& shape, DType t, int device) {
  Array made = may_work_at_once() ? made_at_once(t, shape, device) : Array();
  if (!made.storage()) return {};
  auto* to = reinterpret_cast<unsigned char*>(made.storage()->data());
  bool truncates = false;
  for (int64_t i = 0; i < made.layout.size; ++i, to += item_size(t)) {
    nb::object number = nb::borrow(values[i]);
    if (!takes_number(t, values[i])) {
      number = nb::steal(converted_number(values[i], t));
      if (!number) return {};
      truncates = truncates || PyFloat_Check(values[i]);
    }
    if (!put_scalar("assign", number.ptr(), t, to)) return PyErr_Clear(), Array();
  }
  // Beside floats, NumPy makes floats of all numbers first.
  const auto exact = [](PyObject* o) {
    return PyLong_CheckExact(o) ? is_exact_as_double(o) : !PyArray_IsScalar(o, Integer);
  };
  if (truncates && is_integer(t) && !std::all_of(values, values + made.layout.size, exact)) return {};
  written_at_once(made);
  return made;
}

Array listed_numbers(PyObject* list, DType t, int device) {
  constexpr Py_ssize_t kMost = 64;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  return n > 0 && n <= kMost ? numbers_at_once(PySequence_Fast_ITEMS(list), Dims{n}, t, device) : Array();
}

}  // namespace forerun
