// Plain calls of zeros, ones, full, empty and arange.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/copy/zeros.h"
#include "cpu/kernels/elementwise/elementwise.h"
#include "cpu/kernels/item.h"
#include "cpu/kernels/loop.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/direct/function_type.h"
#include "python/direct/shape.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/create.h"
#include "python/object/dtypes.h"
#include "python/object/numpy_interop.h"
#include "python/object/python_scalars.h"
#include "python/runtime/at_once.h"
#include "python/runtime/devices.h"
#include "python/runtime/errors.h"
#include "python/runtime/submit.h"

namespace forerun {

namespace {

// Reads an int or a tuple of ints, none negative. False: it is another kind of shape.
bool plain_shape(PyObject* o, Dims* shape) {
  bool tuple = o && PyTuple_CheckExact(o);
  Py_ssize_t n = tuple ? PyTuple_GET_SIZE(o) : 1;
  if (!o || n > Dims::kInline) return false;
  int64_t extents[Dims::kInline], size = 1;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* one = tuple ? PyTuple_GET_ITEM(o, i) : o;
    if (!plain_int(one)) return false;
    int overflow = 0;
    long long extent = PyLong_AsLongLongAndOverflow(one, &overflow);
    if (overflow || extent < 0 || extent > INT32_MAX) return false;
    extents[i] = extent;
    size *= extent > 0 ? extent : 1;
    if (size > INT32_MAX) return false;  // large enough for the Python function, which looks at the memory
  }
  *shape = Dims(extents, static_cast<int>(n));
  return true;
}

// A dtype that arrays can have: none for the default float, or a dtype of NumPy's. False: something else, to be
// understood in Python.
bool plain_dtype(PyObject* o, DType* t) {
  if (absent(o) || o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return *t = default_float, true;
  bool known = true;
  if (PyArray_DescrCheck(o)) {
    auto* d = reinterpret_cast<PyArray_Descr*>(o);
    if (!PyArray_ISNBO(d->byteorder)) return false;
    *t = dtype_of_typenum(d->type_num, &known);
    return known;
  }
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return *t = DType::i64, true;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return *t = DType::b1, true;
  if (!PyUnicode_CheckExact(o)) return false;
  for (int i = 0; i < kDTypes; ++i)
    if (static_cast<DType>(i) != DType::bf16 && PyUnicode_CompareWithASCIIString(o, name(static_cast<DType>(i))) == 0)
      return *t = static_cast<DType>(i), true;
  return false;
}

int here() {
  if (default_device >= Engine::get().devices.size()) Engine::get().use_device(default_device);
  return default_device;
}

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
  if (bytes > budget->hard.load()) return nullptr;  // the Python function says how much was asked for
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

constexpr size_t kMostEmpty = size_t{1} << 20;  // bytes of an array without values whose memory is taken in the call

// Arrays of any values; zeros where they are small. The memory of large ones is to be taken when it is first used, and
// that of others, too, while work is pending: in program order, less might be live by then.
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
  bool whole = plain_int(v[1]), fraction = PyFloat_CheckExact(v[1]);
  if (!(whole || fraction)) return nullptr;
  if (!absent(v[2])) {
    if (!plain_dtype(v[2], &t) || (fraction && !is_inexact(t))) return nullptr;
  } else {
    t = fraction || ints_become_floats ? default_float : DType::i64;
  }
  return filled(shape, t, v[1]);
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

// Whether a number becomes dtype t without a loss that is to be reported.
bool plain_value(PyObject* o, DType t) {
  if (PyFloat_CheckExact(o)) return is_inexact(t);
  if (!plain_int(o)) return false;
  int overflow = 0;
  long n = PyLong_AsLongAndOverflow(o, &overflow);
  return !overflow && ((n >= 0 && n < 128) || t == DType::i64 || t == DType::f32 || t == DType::f64);
}

// One number like a dense array.
PyObject* number_like(const DirectCall& call) {
  static constexpr const char* names[] = {"a", "fill_value"};
  PyObject* v[2];
  const Array* like = call.arrange(names, v) ? plain_array(v[0]) : nullptr;
  if (!like || !v[1] || !like->layout.contiguous() || as_array(v[0])->device != here() ||
      !plain_value(v[1], like->layout.dtype))
    return nullptr;
  return filled(like->layout.shape, like->layout.dtype, v[1]);
}

// n elements of a dense array, from the first one on, so many apart: all become the value.
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

// A vector of n floats of the default dtype, by their numbers, but for the last one if it is given; what is too large
// for it is for the Python function to report.
template <class F>
PyObject* floats(int64_t n, double largest, F at, const double* last = nullptr) {
  if (default_float == DType::f32 && !(std::abs(largest) <= std::numeric_limits<float>::max())) return nullptr;
  Array made = made_at_once(default_float, Dims{n}, here());
  if (!made.storage()) return nullptr;
  // The number is an int: vector instructions convert it to every dtype.
  auto fill = [&](auto* to) {
    for (int i = 0; i < static_cast<int>(n); ++i)
      to[i] = static_cast<std::remove_reference_t<decltype(*to)>>(at(static_cast<double>(i)));
    if (last) to[n - 1] = static_cast<std::remove_reference_t<decltype(*to)>>(*last);
  };
  char* to = made.storage()->data();
  default_float == DType::f64 ? fill(reinterpret_cast<double*>(to)) : fill(reinterpret_cast<float*>(to));
  written_at_once(made);
  return wrap(std::move(made));
}

// Reads floats and ints; absent ones stay as they are. False: there is something else.
bool plain_floats(PyObject* const* given, int n, double* numbers) {
  for (int i = 0; i < n; ++i) {
    if (absent(given[i])) continue;
    int beyond = 0;
    if (plain_int(given[i]))
      PyLong_AsLongLongAndOverflow(given[i], &beyond);
    else if (!PyFloat_CheckExact(given[i]))
      return false;
    if (beyond) return false;
    numbers[i] = PyFloat_AsDouble(given[i]);
  }
  return std::all_of(numbers, numbers + n, [](double v) { return std::isfinite(v); });
}

// As NumPy's: a step is what its first one makes of the start.
PyObject* float_range(PyObject* const* given) {
  double number[3] = {0, 0, 1};
  if (!plain_floats(given, 3, number)) return nullptr;
  if (absent(given[1])) std::swap(number[0], number[1]);
  auto [start, stop, step] = number;
  const double n = std::ceil((stop - start) / step), by = (start + step) - start;
  if (!(n >= 1 && n <= INT32_MAX)) return nullptr;
  return floats(static_cast<int64_t>(n), std::max(std::abs(start), std::abs(start + n * by)),
                [=](double i) { return start + i * by; });
}

// As NumPy's, between two numbers.
PyObject* linspace(const DirectCall& call) {
  static constexpr const char* names[] = {"start", "stop", "num", "endpoint"};
  PyObject* v[4];
  double ends[2];
  if (!call.arrange(names, v) || absent(v[0]) || absent(v[1]) || (v[3] && !PyBool_Check(v[3])) ||
      !plain_floats(v, 2, ends))
    return nullptr;
  if ((default_float != DType::f64 && default_float != DType::f32) || !may_work_at_once()) return nullptr;
  Dims count{50};
  if (v[2] && (!plain_int(v[2]) || !plain_shape(v[2], &count))) return nullptr;
  const bool last = v[3] != Py_False;
  const int64_t n = count[0], steps = n - last;
  const double start = ends[0], stop = ends[1], step = (stop - start) / static_cast<double>(steps);
  if (n < 2 || step == 0 || !std::isfinite(step)) return nullptr;
  return floats(
      n, std::max(std::abs(start), std::abs(stop)), [=](double i) { return i * step + start; }, last ? &stop : nullptr);
}

PyObject* arange(const DirectCall& call) {
  static constexpr const char* names[] = {"start", "stop", "step"};
  PyObject* v[3];
  int64_t number[3] = {0, 0, 1};
  if (!call.arrange(names, v) || ints_become_floats || !may_work_at_once()) return nullptr;
  if ((default_float == DType::f64 || default_float == DType::f32) &&
      std::any_of(v, v + 3, [](PyObject* o) { return o && PyFloat_CheckExact(o); })) {
    return absent(v[0]) ? nullptr : float_range(v);
  }
  for (int i = 0; i < 3; ++i) {
    if (absent(v[i])) continue;
    if (!plain_int(v[i])) return nullptr;
    int overflow = 0;
    number[i] = PyLong_AsLongLongAndOverflow(v[i], &overflow);
    if (overflow || number[i] > INT32_MAX || number[i] < INT32_MIN) return nullptr;
  }
  if (absent(v[0]) || number[2] == 0) return nullptr;
  if (absent(v[1])) number[1] = std::exchange(number[0], 0);
  auto [start, stop, step] = number;
  int64_t n = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
  n = std::max<int64_t>(0, n);
  Array made = made_at_once(DType::i64, Dims{n}, here());
  if (!made.storage()) return nullptr;
  auto* to = reinterpret_cast<int64_t*>(made.storage()->data());
  for (int64_t i = 0; i < n; ++i) to[i] = start + i * step;
  written_at_once(made);
  return wrap(std::move(made));
}

// A copy, or a cast: of values of small arrays at once, by the same loops as those of larger ones.
PyObject* converted(PyObject* self, DType t) {
  const Array* from = plain_array(self);
  if (!from || (is_complex(from->layout.dtype) && !is_complex(t))) return nullptr;  // which warns
  bool small =
      from->layout.contiguous() && from->layout.nbytes() <= static_cast<int64_t>(kFilledAtOnce) && may_work_at_once();
  if (const char* values = small ? values_at_once(*from) : nullptr) {
    if (Array made = made_at_once(t, from->layout.shape, as_array(self)->device); made.storage()) {
      char* args[] = {const_cast<char*>(values), made.storage()->data()};
      intptr_t n = from->layout.size,
               steps[] = {static_cast<intptr_t>(item_size(from->layout.dtype)), static_cast<intptr_t>(item_size(t))};
      if (t == from->layout.dtype) {
        std::memcpy(args[1], args[0], static_cast<size_t>(from->layout.nbytes()));
      } else {
        Loop loop = cast_loop(from->layout.dtype, t);
        loop.function(args, &n, steps, loop.data);
      }
      written_at_once(made);
      return wrap(std::move(made));
    }
  }
  return wrap(copied(*from, t, as_array(self)->device));
}

// A dense copy of a small matrix that lies otherwise. No storage: an operation must make it.
Array turned_at_once(const Array& from) {
  const Layout& l = from.layout;
  const bool few =
      l.ndim() == 2 && l.size > 0 && l.nbytes() <= static_cast<int64_t>(kFilledAtOnce) && may_work_at_once();
  const char* values = few ? values_at_once(from) : nullptr;
  Array made = values ? made_at_once(l.dtype, l.shape, device_of(from)) : Array();
  if (!made.storage()) return made;
  with_item(item_size(l.dtype), [&]<class T>(T) {
    T* to = reinterpret_cast<T*>(made.storage()->data());
    for (int64_t i = 0; i < l.shape[0]; ++i)
      for (int64_t k = 0; k < l.shape[1]; ++k)
        std::memcpy(to++, values + i * l.strides[0] + k * l.strides[1], sizeof(T));
  });
  written_at_once(made);
  return made;
}

PyObject* copy(const DirectCall& call) {
  if (call.n != 1 || call.kwnames) return nullptr;
  const Array* a = plain_array(call.args[0]);
  if (!a) return nullptr;
  if (Array made = a->layout.contiguous() ? Array() : turned_at_once(*a); made.storage()) return wrap(std::move(made));
  return converted(call.args[0], a->layout.dtype);
}

// The array itself if it is dense, else a dense copy.
PyObject* contiguous(const DirectCall& call) {
  const Array* a = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  if (!a || a->layout.ndim() == 0) return nullptr;
  if (a->layout.contiguous()) return Py_NewRef(call.args[0]);
  Array made = turned_at_once(*a);
  return wrap(made.storage() ? std::move(made) : copied(*a, a->layout.dtype, as_array(call.args[0])->device));
}

PyObject* astype(const DirectCall& call) {
  static constexpr const char* names[] = {"self", "dtype"};
  PyObject* v[2];
  DType t;
  return call.arrange(names, v) && !absent(v[1]) && plain_dtype(v[1], &t) ? converted(v[0], t) : nullptr;
}

// --- arrays from lists -----------------------------------------------------------------------------------------------

constexpr Py_ssize_t kMostListed = 1 << 26;  // numbers, which are copied in the call as the Python function would

// Whether lists hold Python numbers and nothing else, which the default float takes without a loss that is to be
// reported.
bool plain_numbers(PyObject* list, Py_ssize_t* left, int depth) {
  if (!(PyList_CheckExact(list) || PyTuple_CheckExact(list)) || depth > kMaxDims) return false;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  if (n == 0 || (*left -= n) < 0) return false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* o = PySequence_Fast_GET_ITEM(list, i);
    if (PyFloat_CheckExact(o)) {
      double value = std::abs(PyFloat_AS_DOUBLE(o));
      if (value > std::numeric_limits<float>::max() && !std::isinf(value)) return false;
    } else if (plain_int(o)) {
      int overflow = 0;
      PyLong_AsLongAndOverflow(o, &overflow);
      if (overflow) return false;
    } else if (!PyBool_Check(o) && !plain_numbers(o, left, depth + 1)) {
      return false;
    }
  }
  return true;
}

// Of floats, or of ints, in a list.
PyObject* of_vector(PyObject* list, PyObject* dtype) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  PyObject* const* items = PySequence_Fast_ITEMS(list);
  const bool whole = plain_int(items[0]);
  DType t;
  if (ints_become_floats || !(whole || PyFloat_CheckExact(items[0])) || !may_work_at_once() || !plain_dtype(dtype, &t))
    return nullptr;
  if (absent(dtype) && whole) t = DType::i64;
  if (whole ? t != DType::i64 : t != DType::f64 && t != DType::f32) return nullptr;
  Array made = made_at_once(t, Dims{static_cast<int64_t>(n)}, here());
  if (!made.storage()) return nullptr;
  char* to = made.storage()->data();
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (whole) {
      int overflow = 0;
      if (!plain_int(items[i])) return nullptr;
      reinterpret_cast<int64_t*>(to)[i] = PyLong_AsLongLongAndOverflow(items[i], &overflow);
      if (overflow) return nullptr;
    } else {
      if (!PyFloat_CheckExact(items[i])) return nullptr;
      const double value = PyFloat_AS_DOUBLE(items[i]);
      if (t == DType::f64)
        reinterpret_cast<double*>(to)[i] = value;
      else if (std::abs(value) > std::numeric_limits<float>::max() && !std::isinf(value))
        return nullptr;
      else
        reinterpret_cast<float*>(to)[i] = static_cast<float>(value);
    }
  }
  written_at_once(made);
  return wrap(std::move(made));
}

PyObject* of_numbers(PyObject* list, PyObject* dtype) {
  Py_ssize_t left = kMostListed;
  DType t, want;
  if (ints_become_floats || !may_work_at_once() || !plain_dtype(dtype, &want) || !plain_numbers(list, &left, 1))
    return nullptr;
  nb::object values = nb::steal(PyArray_FROM_O(list));
  if (!values) return PyErr_Clear(), nullptr;  // the Python function says that lists differ in length
  auto* array = reinterpret_cast<PyArrayObject*>(values.ptr());
  int type = PyArray_TYPE(array);
  if (absent(dtype)) want = type == NPY_DOUBLE ? default_float : dtype_of_typenum(type);
  t = dtype_of_typenum(type);
  bool floats = t == DType::f64 && (want == DType::f32 || want == DType::f64);
  if (!(t == want || floats || (t == DType::i64 && want == DType::f64))) return nullptr;
  Array made =
      made_at_once(want, Dims(reinterpret_cast<const int64_t*>(PyArray_DIMS(array)), PyArray_NDIM(array)), here());
  if (!made.storage()) return nullptr;
  nb::object to = nb::steal(numpy_view(made.layout, made.storage()->data(), true, nullptr));
  if (!to || PyArray_CopyInto(reinterpret_cast<PyArrayObject*>(to.ptr()), array) < 0) return PyErr_Clear(), nullptr;
  written_at_once(made);
  return wrap(std::move(made));
}

// Of scalars, or arrays without axes, of one dtype whose values are computed.
PyObject* of_scalars(PyObject* list) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  const ArrayObject* first = as_array(PySequence_Fast_GET_ITEM(list, 0));
  if (recording || !may_work_at_once() || !first->array.storage()) return nullptr;
  const DType t = first->array.layout.dtype;
  Array made = made_at_once(t, Dims{n}, first->device);
  if (!made.storage()) return nullptr;
  char* to = made.storage()->data();
  for (Py_ssize_t i = 0; i < n; ++i, to += item_size(t)) {
    PyObject* o = PySequence_Fast_GET_ITEM(list, i);
    const Array* one = plain_values(o);
    const char* value = one && one->layout.ndim() == 0 && one->layout.dtype == t && as_array(o)->device == first->device
                            ? values_at_once(*one)
                            : nullptr;
    if (!value) return nullptr;
    std::memcpy(to, value, item_size(t));
  }
  written_at_once(made);
  return wrap(std::move(made));
}

// Of a list of numbers or of arrays; of a dense array.
template <bool copies>
PyObject* array(const DirectCall& call) {
  static constexpr const char* names[] = {copies ? "object" : "a", "dtype"};
  PyObject* v[2];
  if (!call.arrange(names, v) || !v[0]) return nullptr;
  if (const Array* a = absent(v[1]) ? plain_array(v[0]) : nullptr) {
    if (!copies) return Py_NewRef(v[0]);
    return a->layout.contiguous() ? converted(v[0], a->layout.dtype) : nullptr;
  }
  if (!(PyList_CheckExact(v[0]) || PyTuple_CheckExact(v[0])) || PySequence_Fast_GET_SIZE(v[0]) == 0) return nullptr;
  if (PyObject* first = PySequence_Fast_GET_ITEM(v[0], 0); is_array(first)) {
    if (!absent(v[1])) return nullptr;
    PyObject* made = as_array(first)->array.layout.ndim() == 0 ? of_scalars(v[0]) : nullptr;
    return made || Py_TYPE(first) == scalar_type ? made : stacked(v[0]);
  }
  if (PyObject* made = of_vector(v[0], v[1])) return made;
  return of_numbers(v[0], v[1]);
}

}  // namespace

void add_direct_creation() {
  add_direct("full_like", number_like);
  add_direct("eye", eye<false>);
  add_direct("tri", tri);
  add_direct("identity", eye<true>);
  add_direct("array", array<true>);
  add_direct("asarray", array<false>);
  add_direct("zeros", full_of<0>);
  add_direct("ones", full_of<1>);
  add_direct("empty", empty);
  add_direct("empty_like", empty_like);
  add_direct("full", full);
  add_direct("zeros_like", full_like<0>);
  add_direct("ones_like", full_like<1>);
  add_direct("arange", arange);
  add_direct("linspace", linspace);
  add_direct("copy", copy);
  add_direct("contiguous", contiguous);
  add_direct("astype", astype);
}

}  // namespace forerun
