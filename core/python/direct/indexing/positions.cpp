#include "python/direct/indexing/positions.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/compress.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/reduce/count_nonzero.h"
#include "cpu/loops/item.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/direct/creation/creation_arguments.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/plain.h"
#include "python/runtime/submission/accelerators.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"
#include "python/runtime/wait.h"

namespace forerun {

namespace {

constexpr int64_t kMostPicked = 1 << 11;  // elements that are copied during the call

}  // namespace

PyObject* pick_at(const Array& x, const Array& index) {
  bool plain = x.layout.ndim() == 1 && index.layout.dtype == DType::i64 && index.layout.contiguous() &&
               index.layout.size <= kMostPicked && may_work_at_once();
  const char* values = plain ? values_at_once(x) : nullptr;
  const auto* at = values ? reinterpret_cast<const int64_t*>(values_at_once(index)) : nullptr;
  if (!at) return nullptr;
  int64_t n = x.layout.size, step = x.layout.strides[0], count = index.layout.size;
  if (!std::all_of(at, at + count, [n](int64_t i) { return i >= -n && i < n; })) return nullptr;
  Array out = made_at_once(x.layout.dtype, index.layout.shape, device_of(x));
  if (!out.storage()) return nullptr;
  with_item(item_size(x.layout.dtype), [&]<class T>(T) {
    T* to = reinterpret_cast<T*>(out.storage()->data());
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i, values + (at[i] < 0 ? at[i] + n : at[i]) * step, sizeof(T));
  });
  written_at_once(out);
  return wrap(std::move(out));
}

bool put_at(const Array& x, const Array& index, const Array& values, EachFunction each) {
  bool plain = x.layout.ndim() == 1 && index.layout.dtype == DType::i64 && index.layout.contiguous() &&
               index.layout.size <= kMostPicked &&
               (values.layout.size == 1 || (values.layout.ndim() == 1 && index.layout.ndim() == 1)) &&
               values.storage() != x.storage() && index.storage() != x.storage() && may_work_at_once();
  const auto* at = plain ? reinterpret_cast<const int64_t*>(values_at_once(index)) : nullptr;
  const char* from = at ? values_at_once(values) : nullptr;
  if (!from) return false;
  int64_t n = x.layout.size, step = x.layout.strides[0], count = index.layout.size,
          by = values.layout.size == 1 ? 0 : values.layout.strides[0];
  if (!std::all_of(at, at + count, [n](int64_t i) { return i >= -n && i < n; })) return false;
  char* room = room_at_once(x);
  if (!room) return false;
  if (each) {
    std::vector<int64_t> offsets(at, at + count);
    for (int64_t& i : offsets) i = (i < 0 ? i + n : i) * step;
    each(room, offsets.data(), from, by, count);
    return written_at_once(x), true;
  }
  with_item(item_size(x.layout.dtype), [&]<class T>(T) {
    for (int64_t i = 0, k = 0; i < count; ++i, k = k + 1 < values.layout.size ? k + 1 : 0)
      std::memcpy(room + (at[i] < 0 ? at[i] + n : at[i]) * step, from + k * by, sizeof(T));
  });
  written_at_once(x);
  return true;
}

PyObject* pick_selected(const Array& x, const Array& mask) {
  if (!on_host(mask)) return nullptr;
  wait_for(mask);
  const char* hit = values_at_once(mask);
  if (x.layout.size > kMostSelected) {
    if (!hit) return nullptr;
    std::vector<int64_t> before = held_before(hit, x.layout.size);
    Array out = Array::make(x.layout.dtype, Dims{before.back()}, budget_of(device_of(x)));
    Building op;
    build_select(*op, x, mask, out, std::move(before));
    op.issue(device_of(x));
    return wrap(std::move(out));
  }
  const char* values = may_work_at_once() ? values_at_once(x) : nullptr;
  const int64_t n = x.layout.size;
  if (!values || !hit) return nullptr;
  Array out = made_at_once(x.layout.dtype, Dims{count_true(hit, n)}, device_of(x));
  if (!out.storage()) return nullptr;
  select_elements(hit, values, out.storage()->data(), n, item_size(x.layout.dtype));
  written_at_once(out);
  return wrap(std::move(out));
}

// Reads an integer: Python's, NumPy's, or forerun's if it is computed.
static bool whole_number(PyObject* o, int64_t* number) {
  const nb::object own = PyArray_IsScalar(o, Integer) ? nb::steal(PyNumber_Index(o)) : number_of_scalar(o);
  int overflow = 0;
  if (!plain_int(own.ptr())) return false;
  *number = PyLong_AsLongLongAndOverflow(own.ptr(), &overflow);
  return !overflow;
}

Array listed_positions(PyObject* list, int64_t n, int device) {
  Py_ssize_t count = PyList_GET_SIZE(list);
  if (count > kMostPicked || !may_work_at_once()) return {};
  Array made = made_at_once(DType::i64, Dims{static_cast<int64_t>(count)}, device);
  if (!made.storage()) return {};
  auto* to = reinterpret_cast<int64_t*>(made.storage()->data());
  for (Py_ssize_t i = 0; i < count; ++i) {
    int64_t at;
    if (!whole_number(PyList_GET_ITEM(list, i), &at) || at < -n || at >= n) return {};
    to[i] = at;
  }
  written_at_once(made);
  return made;
}

std::vector<Array> mask_positions(const Array& mask) {
  const Layout& l = mask.layout;
  const int axes = l.ndim();
  const char* hit = l.size <= kMostSelected && l.contiguous() && axes <= Dims::kInline && may_work_at_once()
                        ? values_at_once(mask)
                        : nullptr;
  if (!hit) return {};
  const int64_t count = count_true(hit, l.size);
  std::vector<int64_t> flat(static_cast<size_t>(axes == 1 ? 0 : count));
  if (axes > 1) list_positions(hit, l.size, flat.data());
  std::vector<Array> found;
  for (int k = 0; k < axes; ++k) {
    found.push_back(made_at_once(DType::i64, Dims{count}, device_of(mask)));
    if (!found.back().storage()) return {};
    auto* to = reinterpret_cast<int64_t*>(found.back().storage()->data());
    int64_t after = 1, n = l.shape[k];
    for (int i = k + 1; i < axes; ++i) after *= l.shape[i];
    if (axes == 1) list_positions(hit, l.size, to);
    for (const int64_t i : flat) *to++ = i / after % n;
    written_at_once(found.back());
  }
  return found;
}

Array known_positions(PyObject* array, int64_t n, int device) {
  auto* a = reinterpret_cast<PyArrayObject*>(array);
  const int64_t count = PyArray_SIZE(a);
  const bool plain = PyArray_TYPE(a) == NPY_INT64 && PyArray_NDIM(a) > 0 && PyArray_ISCARRAY_RO(a) && count > 0 &&
                     count <= kMostPicked;
  const auto* at = static_cast<const int64_t*>(PyArray_DATA(a));
  if (!plain || !may_work_at_once() || !std::all_of(at, at + count, [n](int64_t i) { return i >= -n && i < n; }))
    return {};
  Array made = made_at_once(DType::i64, shape_of(a), device);
  if (!made.storage()) return {};
  std::copy_n(at, count, reinterpret_cast<int64_t*>(made.storage()->data()));
  written_at_once(made);
  return made;
}

}  // namespace forerun
