// Plain calls of zeros, ones, full, empty, eye, tri, and functions that make arrays like others.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/copy/zeros.h"
#include "cpu/kernels/scalar.h"
#include "cpu/loops/item.h"
#include "engine/engine.h"
#include "python/direct/creation/creation_arguments.h"
#include "python/direct/creation/numbers.h"
#include "python/direct/function_type.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/create.h"
#include "python/object/plain.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

PyObject* filled(const Dims& shape, DType t, PyObject* value) {
  Scalar scalar{};
  if (!put_scalar("full", value, t, scalar.bytes)) throw PythonError{};
  size_t size = item_size(t), bytes = static_cast<size_t>(product(shape)) * size;
  if (bytes <= kFilledAtOnce && may_work_at_once()) {
    if (Array made = made_at_once(t, shape, here()); made.storage()) {
      char* to = made.storage()->data();
      bool same = std::all_of(scalar.bytes, scalar.bytes + size, [&](unsigned char b) { return b == scalar.bytes[0]; });
      if (same)
        std::memset(to, scalar.bytes[0], bytes);
      else
        repeat_item(to, scalar.bytes, size, made.layout.size);
      written_at_once(made);
      return wrap(std::move(made));
    }
  }
  MemoryBudget* budget = budget_of(here());
  if (bytes > budget->hard.load()) return nullptr;  // the Python function reports the requested size
  return wrap(filled_array(shape, t, scalar, here()));
}

template <int number>
PyObject* full_of(const DirectCall& call) {
  static constexpr const char* names[] = {"shape", "dtype"};
  static PyObject* const value = PyLong_FromLong(number);
  PyObject* v[2];
  Dims shape;
  DType t;
  if (!call.arrange(names, v) || !plain_shape(v[0], &shape) || !plain_dtype(v[1], &t)) return nullptr;
  return filled(shape, t, value);
}

constexpr size_t kMostEmpty = size_t{1} << 20;  // bytes: larger arrays get memory when they are used

// Uninitialised arrays; zeros if they are small. The memory of large ones is allocated when it is first used, and so is
// that of others while work is pending: in program order, less memory might be live by then.
PyObject* without_values(const Dims& shape, DType t) {
  static PyObject* const zero = PyLong_FromLong(0);
  const size_t bytes = static_cast<size_t>(product(shape)) * item_size(t);
  if (bytes <= kFilledAtOnce) return filled(shape, t, zero);
  if (bytes <= kMostEmpty && may_work_at_once() && Engine::get().ring.idle()) {
    if (Array made = made_at_once(t, shape, here()); made.storage())
      return written_at_once(made), wrap(std::move(made));
  }
  return bytes <= budget_of(here())->hard.load() ? wrap(unwritten(Array::make(t, shape, budget_of(here())))) : nullptr;
}

PyObject* empty(const DirectCall& call) {
  static constexpr const char* names[] = {"shape", "dtype"};
  PyObject* v[2];
  Dims shape;
  DType t;
  return call.arrange(names, v) && plain_shape(v[0], &shape) && plain_dtype(v[1], &t) ? without_values(shape, t)
                                                                                      : nullptr;
}

PyObject* empty_like(const DirectCall& call) {
  const Array* like = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  bool plain = like && like->layout.contiguous() && as_array(call.args[0])->device == here();
  return plain ? without_values(like->layout.shape, like->layout.dtype) : nullptr;
}

PyObject* full(const DirectCall& call) {
  static constexpr const char* names[] = {"shape", "fill_value", "dtype"};
  PyObject* v[3];
  Dims shape;
  DType t;
  if (!call.arrange(names, v) || !v[1] || !plain_shape(v[0], &shape)) return nullptr;
  nb::object value = number_of_scalar(v[1]);
  DType own = DType::f64;
  const bool is_numpys = default_float == DType::f64 && !ints_become_floats && dtype_of_scalar(value.ptr(), &own),
             whole = plain_int(value.ptr());
  if (!(whole || is_numpys || PyFloat_CheckExact(value.ptr()))) return nullptr;
  if (!absent(v[2])) {
    if (!plain_dtype(v[2], &t)) return nullptr;
  } else {
    t = is_numpys ? own : whole && !ints_become_floats ? DType::i64 : default_float;
  }
  if (!takes_number(t, value.ptr())) value = nb::steal(converted_number(value.ptr(), t));
  return value ? filled(shape, t, value.ptr()) : nullptr;
}

// Zeros or ones like a dense array.
template <int number>
PyObject* full_like(const DirectCall& call) {
  static constexpr const char* names[] = {"a"};
  static PyObject* const value = PyLong_FromLong(number);
  PyObject* v[1];
  const Array* like = call.arrange(names, v) ? plain_array(v[0]) : nullptr;
  if (!like || !like->layout.contiguous() || as_array(v[0])->device != here()) return nullptr;
  return filled(like->layout.shape, like->layout.dtype, value);
}

// Whether a number converts to dtype t without a loss that must be reported.
bool plain_value(PyObject* o, DType t) {
  if (PyFloat_CheckExact(o)) return is_inexact(t);
  if (!plain_int(o)) return false;
  int overflow = 0;
  long n = PyLong_AsLongAndOverflow(o, &overflow);
  return !overflow && ((n >= 0 && n < 128) || t == DType::i64 || t == DType::f32 || t == DType::f64);
}

// An array like a dense one, filled with a number.
PyObject* number_like(const DirectCall& call) {
  static constexpr const char* names[] = {"a", "fill_value", "dtype"};
  PyObject* v[3];
  const Array* like = call.arrange(names, v) ? plain_array(v[0]) : nullptr;
  if (!like || !v[1] || !like->layout.contiguous() || as_array(v[0])->device != here()) return nullptr;
  DType t = like->layout.dtype;
  if (!absent(v[2]) && !plain_dtype(v[2], &t)) return nullptr;
  nb::object value = number_of_scalar(v[1]);
  if (!plain_value(value.ptr(), t)) value = nb::steal(converted_number(value.ptr(), t));
  return value ? filled(like->layout.shape, t, value.ptr()) : nullptr;
}

// Sets n elements of a dense array, from the first one on, `apart` elements apart, to the value.
void fill(const Array& array, const Scalar& value, int64_t n, int64_t apart) {
  Layout to = array.layout;
  to.shape = Dims{n}, to.strides = Dims{apart * static_cast<int64_t>(item_size(to.dtype))}, to.size = n;
  Building op;
  build_fill(*op, value, Array(array.storage(), std::move(to)));
  op.issue(device_of(array));
}

// Ones on the main diagonal of a square matrix, zeros elsewhere.
template <bool is_identity>
PyObject* eye(const DirectCall& call) {
  static constexpr const char* names[] = {is_identity ? "n" : "N", "dtype"};
  static PyObject* const one = PyLong_FromLong(1);
  PyObject* v[2];
  Dims shape;
  DType t;
  if (call.n > 1 || !call.arrange(names, v) || !plain_int(v[0]) || !plain_shape(v[0], &shape) || !plain_dtype(v[1], &t))
    return nullptr;
  const int64_t n = shape[0], size = static_cast<int64_t>(item_size(t));
  if (n == 0 || n > 1 << 16 || n * n * size > static_cast<int64_t>(budget_of(here())->hard.load())) return nullptr;
  Scalar scalar{};
  if (!put_scalar("eye", one, t, scalar.bytes)) throw PythonError{};
  const Dims square{n, n};
  if (static_cast<size_t>(n * n * size) > kFilledAtOnce || !may_work_at_once()) {
    Array made = filled_array(square, t, Scalar{}, here());
    fill(made, scalar, n, n + 1);
    return wrap(std::move(made));
  }
  Array made = made_at_once(t, square, here());
  if (!made.storage()) return nullptr;
  char* to = made.storage()->data();
  std::memset(to, 0, static_cast<size_t>(n * n * size));
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * (n + 1) * size, scalar.bytes, static_cast<size_t>(size));
  written_at_once(made);
  return wrap(std::move(made));
}

// Ones at and below a diagonal of a small matrix, zeros above.
PyObject* tri(const DirectCall& call) {
  static constexpr const char* names[] = {"N", "M", "k", "dtype"};
  static PyObject* const one = PyLong_FromLong(1);
  PyObject* v[4];
  Dims rows, columns;
  DType t;
  int beyond = 0;
  if (!call.arrange(names, v) || !plain_int(v[0]) || (v[2] && !plain_int(v[2])) || !plain_shape(v[0], &rows) ||
      !plain_dtype(v[3], &t))
    return nullptr;
  if (absent(v[1]))
    columns = rows;
  else if (!plain_int(v[1]) || !plain_shape(v[1], &columns))
    return nullptr;
  const long long k = v[2] ? PyLong_AsLongLongAndOverflow(v[2], &beyond) : 0;
  const int64_t n = rows[0], m = columns[0], size = static_cast<int64_t>(item_size(t));
  if (beyond || std::abs(k) > INT32_MAX || n > 1024 || m > 1024 || static_cast<size_t>(n * m * size) > kFilledAtOnce ||
      !may_work_at_once())
    return nullptr;
  Scalar scalar{};
  if (!put_scalar("tri", one, t, scalar.bytes)) throw PythonError{};
  Array made = made_at_once(t, Dims{n, m}, here());
  if (!made.storage()) return nullptr;
  char* to = made.storage()->data();
  std::memset(to, 0, static_cast<size_t>(n * m * size));
  for (int64_t i = 0; i < n; ++i)
    repeat_item(to + i * m * size, scalar.bytes, static_cast<size_t>(size), std::clamp<int64_t>(i + k + 1, 0, m));
  written_at_once(made);
  return wrap(std::move(made));
}

}  // namespace

void add_direct_creation() {
  add_direct("full_like", number_like);
  add_direct("eye", eye<false>);
  add_direct("tri", tri);
  add_direct("identity", eye<true>);
  add_direct("zeros", full_of<0>);
  add_direct("ones", full_of<1>);
  add_direct("empty", empty);
  add_direct("empty_like", empty_like);
  add_direct("full", full);
  add_direct("zeros_like", full_like<0>);
  add_direct("ones_like", full_like<1>);
}

}  // namespace forerun
