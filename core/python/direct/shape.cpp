// Plain calls of functions that view arrays in another shape, or join them.
#include "python/direct/shape.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "engine/engine.h"
#include "python/direct/creation/convert.h"
#include "python/direct/creation/from_lists.h"
#include "python/direct/function_type.h"
#include "python/dispatch/loops/promotion.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/create.h"
#include "python/object/scalar.h"
#include "python/object/views/views.h"
#include "python/ops/concatenate.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

PyObject* reversed_axes(PyObject* self) {
  const Array* a = plain_array(self);
  if (!a) return nullptr;
  int axes[kMaxDims], n = a->layout.ndim();
  for (int i = 0; i < n; ++i) axes[i] = n - 1 - i;
  return wrap(with_axes(*a, axes));
}

namespace {

PyObject* transpose(const DirectCall& call) {
  if (call.kwnames || call.n < 1 || call.n > 2) return nullptr;
  PyObject* axes = call.n == 2 ? call.args[1] : nullptr;
  if (absent(axes)) return reversed_axes(call.args[0]);
  const Array* a = plain_array(call.args[0]);
  const int n = a ? a->layout.ndim() : 0;
  if (n == 0 || !is_list(axes) || PySequence_Fast_GET_SIZE(axes) != n) return nullptr;
  Layout to = a->layout;
  std::vector<bool> seen(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    int axis;
    if (!plain_axis(PySequence_Fast_GET_ITEM(axes, i), n, &axis) || seen[static_cast<size_t>(axis)]) return nullptr;
    seen[static_cast<size_t>(axis)] = true;
    to.shape[i] = a->layout.shape[axis], to.strides[i] = a->layout.strides[axis];
  }
  return wrap(Array(a->storage(), std::move(to)));
}

// The main diagonal of a matrix, as a view, which by NumPy's rules is read-only.
PyObject* diagonal(const DirectCall& call) {
  const Array* a = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  if (!a || a->layout.ndim() != 2) return nullptr;
  Layout to;
  to.dtype = a->layout.dtype, to.read_only = a->layout.read_only || numpy_rules, to.offset = a->layout.offset;
  to.size = std::min(a->layout.shape[0], a->layout.shape[1]);
  to.shape = Dims{to.size}, to.strides = Dims{a->layout.strides[0] + a->layout.strides[1]};
  return wrap(Array(a->storage(), std::move(to)));
}

// A small matrix with the elements of a vector on its diagonal; the diagonal of a matrix.
PyObject* diag(const DirectCall& call) {
  const Array* a = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  if (!a || a->layout.ndim() != 1) return diagonal(call);
  const int64_t n = a->layout.size, size = static_cast<int64_t>(item_size(a->layout.dtype));
  const char* values = n > 0 && n <= 1024 && n * n * size <= static_cast<int64_t>(kFilledAtOnce) && may_work_at_once()
                           ? values_at_once(*a)
                           : nullptr;
  if (!values) return nullptr;
  Array made = made_at_once(a->layout.dtype, Dims{n, n}, as_array(call.args[0])->device);
  if (!made.storage()) return nullptr;
  char* to = made.storage()->data();
  std::memset(to, 0, static_cast<size_t>(n * n * size));
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * (n + 1) * size, values + i * a->layout.strides[0], static_cast<size_t>(size));
  written_at_once(made);
  return wrap(std::move(made));
}

// A view that is reversed along an axis; all: along each.
PyObject* flipped(PyObject* self, int axis, bool all) {
  const Array* a = plain_array(self);
  if (!a || a->layout.size == 0 || a->layout.ndim() == 0 || (!all && axis >= a->layout.ndim())) return nullptr;
  Layout to = a->layout;
  for (int i = 0; i < to.ndim(); ++i) {
    if (!all && i != axis) continue;
    to.offset += (to.shape[i] - 1) * to.strides[i];
    to.strides[i] = -to.strides[i];
  }
  return wrap(Array(a->storage(), std::move(to)));
}

PyObject* flip(const DirectCall& call) {
  static constexpr const char* names[] = {"m", "axis"};
  PyObject* v[2];
  int axis = 0;
  if (!call.arrange(names, v) || !plain_array(v[0]) ||
      (!absent(v[1]) && !plain_axis(v[1], plain_array(v[0])->layout.ndim(), &axis)))
    return nullptr;
  return flipped(v[0], axis, absent(v[1]));
}

template <int axis>
PyObject* flip_along(const DirectCall& call) {
  return call.n == 1 && !call.kwnames ? flipped(call.args[0], axis, false) : nullptr;
}

// A small matrix with zeros above a diagonal of it, or below.
template <bool lower>
PyObject* triangle(const DirectCall& call) {
  static constexpr const char* names[] = {"m", "k"};
  PyObject* v[2];
  const Array* a = call.arrange(names, v) && (!v[1] || plain_int(v[1])) ? plain_array(v[0]) : nullptr;
  if (!a || a->layout.ndim() != 2 || a->layout.size == 0 || !a->layout.contiguous() ||
      a->layout.nbytes() > static_cast<int64_t>(kFilledAtOnce))
    return nullptr;
  int beyond = 0;
  const long long k = v[1] ? PyLong_AsLongLongAndOverflow(v[1], &beyond) : 0;
  const char* values = !beyond && std::abs(k) <= INT32_MAX && may_work_at_once() ? values_at_once(*a) : nullptr;
  Array made = values ? made_at_once(a->layout.dtype, a->layout.shape, as_array(v[0])->device) : Array();
  if (!made.storage()) return nullptr;
  const int64_t n = a->layout.shape[1], size = static_cast<int64_t>(item_size(a->layout.dtype));
  char* to = made.storage()->data();
  for (int64_t i = 0; i < a->layout.shape[0]; ++i, to += n * size, values += n * size) {
    const int64_t kept = std::clamp<int64_t>(i + k + lower, 0, n) * size;  // bytes up to the diagonal
    std::memset(to, 0, static_cast<size_t>(n * size));
    lower ? std::memcpy(to, values, static_cast<size_t>(kept))
          : std::memcpy(to + kept, values + kept, static_cast<size_t>(n * size - kept));
  }
  written_at_once(made);
  return wrap(std::move(made));
}

// x.reshape(2, 3), x.reshape((2, 3)), x.reshape(6).
PyObject* reshape_method(const DirectCall& call) {
  const Array* a = call.n >= 2 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  if (!a || a->layout.size == 0) return nullptr;
  bool tuple = call.n == 2 && PyTuple_CheckExact(call.args[1]);
  PyObject* const* items = tuple ? PySequence_Fast_ITEMS(call.args[1]) : call.args + 1;
  Py_ssize_t n = tuple ? PyTuple_GET_SIZE(call.args[1]) : call.n - 1;
  if (n > Dims::kInline) return nullptr;
  int64_t extents[Dims::kInline], known = 1;
  int open = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!plain_int(items[i])) return nullptr;
    int overflow = 0;
    extents[i] = PyLong_AsLongLongAndOverflow(items[i], &overflow);
    if (overflow || extents[i] < -1 || extents[i] > INT32_MAX) return nullptr;
    if (extents[i] == -1)
      ++open;
    else
      known *= extents[i];
    if (known > INT32_MAX) return nullptr;
  }
  bool fits = open == 0 ? known == a->layout.size : open == 1 && known > 0 && a->layout.size % known == 0;
  if (!fits || (open && n == 0)) return nullptr;
  return wrap(reshaped(*a, Dims(extents, static_cast<int>(n))));
}

// reshape(x, (2, 3)), reshape(x, 6). A third argument is the order.
PyObject* reshape(const DirectCall& call) { return call.n == 2 ? reshape_method(call) : nullptr; }

PyObject* ravel(const DirectCall& call) {
  const Array* a = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  if (!a || !a->layout.contiguous()) return nullptr;
  return wrap(reshaped(*a, Dims{a->layout.size}));
}

PyObject* flatten(const DirectCall& call) {
  const Array* a = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  if (!a || a->layout.size == 0) return nullptr;
  return wrap(reshaped(copied(*a, a->layout.dtype, device_of(*a)), Dims{a->layout.size}));
}

// The real or the imaginary parts of complex numbers. For other dtypes the real part is the array itself.
template <bool imaginary>
PyObject* part(const DirectCall& call) {
  const Array* a = call.n == 1 && !call.kwnames ? plain_values(call.args[0]) : nullptr;
  if (!a) return nullptr;
  Layout to = a->layout;
  if (!is_complex(to.dtype)) return imaginary ? nullptr : Py_NewRef(call.args[0]);
  to.dtype = to.dtype == DType::c64 ? DType::f32 : DType::f64;
  if (imaginary) to.offset += static_cast<int64_t>(item_size(to.dtype));
  return wrap_like(call.args[0], Array(a->storage(), std::move(to)));
}

// Arrays of one device, in a list or tuple, perhaps together with lists of numbers. False: there are other objects.
bool plain_arrays(PyObject* list, std::vector<Array>& all, int* device) {
  if (!list || !is_list(list) || PySequence_Fast_GET_SIZE(list) == 0) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    const nb::object given = array_from_like(PySequence_Fast_GET_ITEM(list, i));
    PyObject* o = given.ptr();
    const Array* a = plain_values(o);
    if (!a || (i > 0 && as_array(o)->device != *device)) return false;
    *device = as_array(o)->device;
    all.push_back(*a);
  }
  return true;
}

// Casts arrays to their common dtype.
void promote_all(std::vector<Array>& all) {
  DType common = all[0].layout.dtype;
  for (const Array& a : all) common = promote(common, a.layout.dtype);
  for (Array& a : all) a = of_dtype(a, common);
}

// Concatenates dense arrays of few bytes in total, with computed values. Null: an operation must do it.
PyObject* joined_at_once(const std::vector<Array>& all, const Dims& shape, int device) {
  const DType t = all[0].layout.dtype;
  const auto good = [](const Array& a) { return a.layout.contiguous() && values_at_once(a); };
  if (product(shape) * static_cast<int64_t>(item_size(t)) > static_cast<int64_t>(kFilledAtOnce) ||
      !may_work_at_once() || !std::all_of(all.begin(), all.end(), good))
    return nullptr;
  Array made = made_at_once(t, shape, device);
  if (!made.storage()) return nullptr;
  char* to = made.storage()->data();
  for (const Array& a : all) {
    std::memcpy(to, values_at_once(a), static_cast<size_t>(a.layout.nbytes()));
    to += a.layout.nbytes();
  }
  written_at_once(made);
  return wrap(std::move(made));
}

PyObject* joined(std::vector<Array> all, int axis, int device, Joined order = Joined::in_order_of_axes) {
  Dims shape = all[0].layout.shape;
  for (size_t k = 1; k < all.size(); ++k) {
    const Dims& other = all[k].layout.shape;
    if (other.size() != shape.size()) return nullptr;
    for (int i = 0; i < shape.size(); ++i)
      if (i != axis && other[i] != shape[i]) return nullptr;
    shape[axis] += other[axis];
  }
  promote_all(all);
  if (axis == 0)
    if (PyObject* made = joined_at_once(all, shape, device)) return made;
  return wrap(concatenated(all, axis, shape, device, order));
}

// The arrays are given by position only.
PyObject* concatenate(const DirectCall& call) {
  static constexpr const char* names[] = {"arrays", "axis"};
  PyObject* v[2];
  std::vector<Array> all;
  int device = 0, axis = 0;
  if (call.n == 0 || !call.arrange(names, v) || !plain_arrays(v[0], all, &device) || all[0].layout.ndim() == 0)
    return nullptr;
  if (v[1] && !plain_axis(v[1], all[0].layout.ndim(), &axis)) return nullptr;
  return joined(std::move(all), axis, device);
}

constexpr int64_t kFewOfMany = 4096;  // bytes of each of many arrays

// The same for arrays of one shape, along a new first axis. Null: not such arrays.
PyObject* stacked_at_once(PyObject* list) {
  if (!list || !is_list(list) || !may_work_at_once()) return nullptr;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  PyObject* const* items = PySequence_Fast_ITEMS(list);
  const Array* first = n > 0 ? plain_array(items[0]) : nullptr;
  if (!first || first->layout.ndim() >= Dims::kInline) return nullptr;
  // Passing many arrays to an operation takes as long as copying some of each; but memory must be allocated in program
  // order.
  const int64_t bytes_of_one = first->layout.nbytes(), most = static_cast<int64_t>(kFilledAtOnce);
  if (bytes_of_one * n > most && (bytes_of_one > kFewOfMany || !Engine::get().ring.idle())) return nullptr;
  const auto good = [&](PyObject* o) {
    const Array* a = plain_array(o);
    return a && a->layout.dtype == first->layout.dtype && a->layout.shape == first->layout.shape &&
           as_array(o)->device == as_array(items[0])->device && a->layout.contiguous() && values_at_once(*a);
  };
  if (!std::all_of(items, items + n, good)) return nullptr;
  Dims shape(first->layout.ndim() + 1, n);
  std::copy(first->layout.shape.begin(), first->layout.shape.end(), shape.begin() + 1);
  Array made = made_at_once(first->layout.dtype, shape, as_array(items[0])->device);
  if (!made.storage()) return nullptr;
  const auto bytes = static_cast<size_t>(first->layout.nbytes());
  for (Py_ssize_t i = 0; i < n; ++i)
    std::memcpy(made.storage()->data() + static_cast<size_t>(i) * bytes, values_at_once(as_array(items[i])->array),
                bytes);
  written_at_once(made);
  return wrap(std::move(made));
}

// Along a new axis; null: the first one.
PyObject* stacked_along(PyObject* list, PyObject* where, Joined order = Joined::in_order_of_axes) {
  if (!where)
    if (PyObject* made = stacked_at_once(list)) return made;
  std::vector<Array> all;
  int device = 0, axis = 0;
  if (!plain_arrays(list, all, &device)) return nullptr;
  int n = all[0].layout.ndim();
  if ((where && !plain_axis(where, n + 1, &axis)) || n == kMaxDims) return nullptr;
  for (size_t k = 1; k < all.size(); ++k)
    if (!(all[k].layout.shape == all[0].layout.shape)) return nullptr;
  for (Array& a : all) {
    Dims shape(n + 1), strides(n + 1);
    for (int i = 0; i < n; ++i)
      shape[i + (i >= axis)] = a.layout.shape[i], strides[i + (i >= axis)] = a.layout.strides[i];
    shape[axis] = 1, strides[axis] = 0;
    a.layout.shape = std::move(shape), a.layout.strides = std::move(strides);
  }
  return joined(std::move(all), axis, device, order);
}

PyObject* stack(const DirectCall& call) {
  static constexpr const char* names[] = {"arrays", "axis"};
  PyObject* v[2];
  return call.arrange(names, v) ? stacked_along(v[0], v[1]) : nullptr;
}

// Concatenates vectors end to end, matrices side by side.
PyObject* hstack(const DirectCall& call) {
  std::vector<Array> all;
  int device = 0;
  if (call.n != 1 || call.kwnames || !plain_arrays(call.args[0], all, &device) || all[0].layout.ndim() == 0)
    return nullptr;
  const int axis = all[0].layout.ndim() == 1 ? 0 : 1;
  return joined(std::move(all), axis, device);
}

// Concatenates rows below one another.
PyObject* vstack(const DirectCall& call) {
  std::vector<Array> all;
  int device = 0;
  if (call.n != 1 || call.kwnames || !plain_arrays(call.args[0], all, &device)) return nullptr;
  for (Array& a : all) {
    if (a.layout.ndim() == 0) return nullptr;
    if (a.layout.ndim() > 1) continue;
    a.layout.shape = Dims{1, a.layout.shape[0]};
    a.layout.strides = Dims{0, a.layout.strides[0]};
  }
  return joined(std::move(all), 0, device);
}

// Appends vectors, one of which may be a list; the second may be a number.
PyObject* append(const DirectCall& call) {
  if (call.n != 2 || call.kwnames) return nullptr;
  const nb::object to = array_from_like(call.args[0]);
  const nb::object values =
      plain_number(call.args[1]) ? nb::steal(array_of_number(call.args[1])) : array_from_like(call.args[1]);
  const Array *a = plain_array(to.ptr()), *b = plain_values(values.ptr());
  if (!a || !b || a->layout.ndim() != 1 || b->layout.ndim() > 1) return nullptr;
  const int device = as_array(to.ptr())->device;
  if (as_array(values.ptr())->device != device) return nullptr;
  return joined({*a, reshaped(*b, Dims{b->layout.size})}, 0, device);
}

}  // namespace

PyObject* stacked(PyObject* list) { return stacked_along(list, nullptr, Joined::in_c_order); }

void add_direct_shapes() {
  add_direct("transpose", transpose);
  add_direct("diagonal", diagonal);
  add_direct("diag", diag);
  add_direct("flip", flip);
  add_direct("fliplr", flip_along<1>);
  add_direct("flipud", flip_along<0>);
  add_direct("tril", triangle<true>);
  add_direct("triu", triangle<false>);
  add_direct("reshape", reshape);
  add_direct("reshape_method", reshape_method);
  add_direct("ravel", ravel);
  add_direct("flatten", flatten);
  add_direct("real", part<false>);
  add_direct("imag", part<true>);
  add_direct("hstack", hstack);
  add_direct("vstack", vstack);
  add_direct("append", append);
  add_direct("concatenate", concatenate);
  add_direct("stack", stack);
}

}  // namespace forerun
