// Elements and slices, read and written, where no Python function is needed to understand the index and the values.
#include "python/direct/index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "array/array.h"
#include "base/simd_target.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/elementwise/compress.h"
#include "cpu/kernels/elementwise/elementwise.h"
#include "cpu/kernels/elementwise/masked_write.h"
#include "cpu/kernels/item.h"
#include "cpu/kernels/reduce/count_nonzero.h"
#include "engine/graph/memory_budget.h"
#include "python/bindings.h"
#include "python/direct/function_type.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/basic_index.h"
#include "python/object/node.h"
#include "python/object/python_scalars.h"
#include "python/runtime/accelerators.h"
#include "python/runtime/at_once.h"
#include "python/runtime/devices.h"
#include "python/runtime/errors.h"
#include "python/runtime/op_names.h"
#include "python/runtime/submit.h"
#include "python/runtime/waiting/wait.h"

namespace forerun {

namespace {

// A Python number that NumPy's assignment takes into dtype t as it is: kinds in the order bool, int, float, complex.
bool takes_number(DType t, PyObject* value) {
  if (PyBool_Check(value) || PyLong_CheckExact(value)) return true;
  if (PyFloat_CheckExact(value)) return is_inexact(t);
  return PyComplex_CheckExact(value) && is_complex(t);
}

void fill(const Array& to, PyObject* value) {
  Scalar scalar{};
  if (!put_scalar("assign", value, to.layout.dtype, scalar.bytes)) throw PythonError{};
  const bool few =
      to.layout.size == 1 ||
      (to.layout.size > 0 && static_cast<size_t>(to.layout.nbytes()) <= kFilledAtOnce && to.layout.contiguous());
  if (char* room = few && may_work_at_once() ? room_at_once(to) : nullptr) {
    repeat_item(room, scalar.bytes, item_size(to.layout.dtype), to.layout.size);
    return written_at_once(to);
  }
  Building op;
  build_fill(*op, scalar, to);
  op.issue(device_of(to));
}

// The values as they broadcast to a shape; leading axes of extent 1 too many are left out. False: they do not.
bool fit(Layout& values, const Dims& shape) {
  int more = values.ndim() - shape.size();
  for (int i = 0; i < more; ++i)
    if (values.shape[i] != 1) return false;
  if (more > 0)
    values.shape = Dims(values.shape.begin() + more, shape.size()),
    values.strides = Dims(values.strides.begin() + more, shape.size());
  int lead = shape.size() - values.ndim();
  for (int i = 0; i < values.ndim(); ++i)
    if (values.shape[i] != 1 && values.shape[i] != shape[lead + i]) return false;
  return true;
}

// The same number of elements of one dtype, few and dense, copied now. False: an operation must do it.
bool copied_at_once(const Array& to, const Array& from) {
  const size_t bytes = static_cast<size_t>(to.layout.nbytes());
  const bool few = bytes && bytes <= kFilledAtOnce && from.layout.dtype == to.layout.dtype &&
                   (from.layout.shape == to.layout.shape || (from.layout.size == 1 && to.layout.size == 1));
  if (!few || !to.layout.contiguous() || !from.layout.contiguous() || !may_work_at_once()) return false;
  const char* values = values_at_once(from);
  char* room = values ? room_at_once(to) : nullptr;
  if (!room) return false;
  std::memmove(room, values, bytes);
  return written_at_once(to), true;
}

bool copy(const Array& to, const Array& from) {
  if (from.same_elements(to)) return true;                                          // `x[i] += y` ends so
  if (is_complex(from.layout.dtype) && !is_complex(to.layout.dtype)) return false;  // which warns
  if (copied_at_once(to, from)) return true;
  Array values = from;
  if (!fit(values.layout, to.layout.shape)) return false;
  Building op;
  build_copy(*op, values, to);
  op.issue(device_of(to));
  return true;
}

constexpr int64_t kMostPicked = 1 << 11;    // elements that are copied in the call
constexpr int64_t kMostSelected = 1 << 14;  // bools that are looked at in the call

// Elements of a vector at positions that are computed and in range; null without an exception set: an operation must do
// it.
PyObject* picked(const Array& x, const Array& index) {
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

// The same, written or combined: each element with its value, or all with the one. False: an operation must do it.
bool put_picked(const Array& x, const Array& index, const Array& values, EachFunction each) {
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
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(room + (at[i] < 0 ? at[i] + n : at[i]) * step, from + i * by, sizeof(T));
  });
  written_at_once(x);
  return true;
}

// The elements under a mask of the array's whole shape: how many there are, its values tell. Null: the Python function
// knows what to do.
PyObject* selected(const Array& x, const Array& mask) {
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
  with_item(item_size(x.layout.dtype), [&]<class T>(T) {
    const T* from = reinterpret_cast<const T*>(values);
    T* to = reinterpret_cast<T*>(out.storage()->data());
    for (int64_t i = 0; i < n; ++i)
      if (hit[i]) *to++ = from[i];
  });
  written_at_once(out);
  return wrap(std::move(out));
}

// The integers in a list as positions along an axis of n elements. No storage: it has others, or one is out of range.
Array positions(PyObject* list, int64_t n, int device) {
  Py_ssize_t count = PyList_GET_SIZE(list);
  if (count == 0 || count > kMostPicked || !may_work_at_once()) return {};
  Array made = made_at_once(DType::i64, Dims{static_cast<int64_t>(count)}, device);
  if (!made.storage()) return {};
  auto* to = reinterpret_cast<int64_t*>(made.storage()->data());
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* o = PyList_GET_ITEM(list, i);
    int overflow = 0;
    int64_t at = plain_int(o) ? PyLong_AsLongLongAndOverflow(o, &overflow) : n;
    if (overflow || at < -n || at >= n) return {};
    to[i] = at;
  }
  written_at_once(made);
  return made;
}

// Where a dense mask holds: the positions along each of its axes. None: it is too large to look at here, or its values
// are not there.
std::vector<Array> positions(const Array& mask) {
  const Layout& l = mask.layout;
  const int axes = l.ndim();
  const char* hit = l.size <= kMostSelected && l.contiguous() && axes <= Dims::kInline && may_work_at_once()
                        ? values_at_once(mask)
                        : nullptr;
  if (!hit) return {};
  const int64_t count = count_true(hit, l.size);
  std::vector<Array> found;
  for (int k = 0; k < axes; ++k) {
    found.push_back(made_at_once(DType::i64, Dims{count}, device_of(mask)));
    if (!found.back().storage()) return {};
    auto* to = reinterpret_cast<int64_t*>(found.back().storage()->data());
    int64_t after = 1, n = l.shape[k];
    for (int i = k + 1; i < axes; ++i) after *= l.shape[i];
    for (int64_t i = 0; i < l.size; ++i)
      if (hit[i]) *to++ = axes == 1 ? i : i / after % n;
    written_at_once(found.back());
  }
  return found;
}

// An index with arrays of positions, beside one another, read.
struct Picks {
  Array view;                  // what the other entries make of the array
  std::vector<Array> indices;  // of one shape once they are read, along neighbouring axes of the view
  int axis = 0;                // the first of them
  Dims shape() const {
    const Dims &all = view.layout.shape, &common = indices[0].layout.shape;
    const int k = static_cast<int>(indices.size());
    Dims found(all.size() - k + common.size());
    auto at = std::copy(all.begin(), all.begin() + axis, found.begin());
    at = std::copy(common.begin(), common.end(), at);
    std::copy(all.begin() + axis + k, all.end(), at);
    return found;
  }
};

// The same of NumPy's vector or matrix of int64.
Array known_positions(PyArrayObject* a, int64_t n, int device) {
  const int64_t count = PyArray_SIZE(a);
  const bool plain = PyArray_TYPE(a) == NPY_INT64 && PyArray_NDIM(a) > 0 && PyArray_ISCARRAY_RO(a) && count > 0 &&
                     count <= kMostPicked;
  const auto* at = static_cast<const int64_t*>(PyArray_DATA(a));
  if (!plain || !may_work_at_once() || !std::all_of(at, at + count, [n](int64_t i) { return i >= -n && i < n; }))
    return {};
  Array made =
      made_at_once(DType::i64, Dims(reinterpret_cast<const int64_t*>(PyArray_DIMS(a)), PyArray_NDIM(a)), device);
  if (!made.storage()) return {};
  std::copy_n(at, count, reinterpret_cast<int64_t*>(made.storage()->data()));
  written_at_once(made);
  return made;
}

// Gives arrays that broadcast together one shape. False: they do not.
bool broadcast_all(std::vector<Array>& all) {
  Dims common = all[0].layout.shape;
  bool same = true;
  for (const Array& a : all) {
    const Dims& shape = a.layout.shape;
    same = same && shape == common;
    if (shape.size() > common.size()) {
      Dims wider(shape.size(), 1);
      std::copy(common.begin(), common.end(), wider.end() - common.size());
      common = wider;
    }
    for (int i = 1; i <= shape.size(); ++i) {
      int64_t &have = common[common.size() - i], one = shape[shape.size() - i];
      if (have != one && have != 1 && one != 1) return false;
      if (have == 1) have = one;
    }
  }
  for (Array& a : all)
    if (!same) a = Array(a.storage(), broadcast_to("getitem", a.layout, common));
  return true;
}

// waits: for the values of masks, which tell how many elements there are. False: it is another kind of index, for
// Python to read.
class PicksReader {
 public:
  PicksReader(PyObject* self, bool waits, Picks* picks)
      : x_(as_array(self)->array), device_(as_array(self)->device), waits_(waits), picks_(*picks) {}

  bool read(PyObject* index) { return collect(index) && broadcast_all(picks_.indices); }

 private:
  bool collect(PyObject* index) {
    if (!PyTuple_CheckExact(index)) {
      picks_.view = x_;
      return add(index, 0);
    }
    const Py_ssize_t n = PyTuple_GET_SIZE(index);
    int axes = 0;
    for (Py_ssize_t i = 0; i < n; ++i) axes += covered(PyTuple_GET_ITEM(index, i));
    if (axes > x_.layout.ndim() || n < 1) return false;
    bool inside = false, over = false, whole = true;
    int axis = 0;
    for (Py_ssize_t i = 0; i < n; axis += covered(PyTuple_GET_ITEM(index, i++))) {
      PyObject* o = PyTuple_GET_ITEM(index, i);
      bool slice = PySlice_Check(o);
      if (!slice && over) return false;  // NumPy puts what they pick in front
      over = over || (slice && inside), inside = !slice;
      if (slice && !over) ++picks_.axis;
      whole = whole && !slice && !plain_int(o);
      if (!slice && !plain_int(o) && !add(o, axis)) return false;
    }
    if (picks_.indices.empty()) return false;
    if (whole) return picks_.view = x_, true;
    return look_through(index, n);
  }

  // How many axes an entry is about.
  static int covered(PyObject* o) {
    const Array* a = plain_array(o);
    return a && a->layout.dtype == DType::b1 ? a->layout.ndim() : 1;
  }

  // The view that slices and integers make.
  bool look_through(PyObject* index, Py_ssize_t n) {
    static PyObject* const all = PySlice_New(nullptr, nullptr, nullptr);
    nb::object basic = nb::steal(PyList_New(0));
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* o = PyTuple_GET_ITEM(index, i);
      for (int k = covered(o); k > 0; --k)
        if (PyList_Append(basic.ptr(), PySlice_Check(o) || plain_int(o) ? o : all) < 0) throw nb::python_error();
    }
    return basic_index(x_, checked(PyList_AsTuple(basic.ptr())).ptr(), &picks_.view);
  }

  // Adds the indices of an entry along axes from `axis` on.
  bool add(PyObject* o, int axis) {
    const Dims& shape = x_.layout.shape;
    std::vector<Array> found;
    if (PyList_CheckExact(o)) {
      if (Array list = positions(o, shape[axis], device_); list.storage()) found.push_back(std::move(list));
    } else if (PyArray_CheckExact(o)) {
      if (Array known = known_positions(reinterpret_cast<PyArrayObject*>(o), shape[axis], device_); known.storage())
        found.push_back(std::move(known));
    } else if (const Array* one = plain_array(o); one && as_array(o)->device == device_ && one->layout.ndim()) {
      const int n = one->layout.ndim();
      if (is_integer(one->layout.dtype))
        found.push_back(*one);
      else if (one->layout.dtype == DType::b1 && axis + n <= shape.size() &&
               std::equal(one->layout.shape.begin(), one->layout.shape.end(), shape.begin() + axis))
        found = where(*one);
    }
    // Positions along axes without elements are not a plain index: the Python function refuses them in the call.
    for (Array& a : found) {
      if (shape[axis++] == 0) return false;
      picks_.indices.push_back(std::move(a));
    }
    return !found.empty();
  }

  std::vector<Array> where(const Array& mask) {
    if (waits_ && mask.layout.size <= kMostSelected && may_work_at_once() && on_host(mask)) wait_for(mask);
    return positions(mask);
  }

  const Array& x_;
  const int device_;
  const bool waits_;
  Picks& picks_;
};

PyObject* gathered(const Picks& p) {
  static const char* op_name = intern("take");
  if (p.indices.size() == 1)
    if (PyObject* found = picked(p.view, p.indices[0])) return found;
  Array out = Array::make(p.view.layout.dtype, p.shape(), budget_of(device_of(p.view)));
  Building op;
  build_gather(*op, p.view, p.indices, p.axis, out, op_name);
  op.issue(device_of(p.view));
  return wrap(std::move(out));
}

// A number as an array of the dtype, to be written. No storage: the Python function knows what to do.
Array number(PyObject* value, DType t, int device) {
  Array made = may_work_at_once() ? made_at_once(t, {}, device) : Array();
  if (!made.storage()) return {};
  if (!put_scalar("setitem", value, t, reinterpret_cast<unsigned char*>(made.storage()->data())))
    return PyErr_Clear(), Array();
  written_at_once(made);
  return made;
}

bool scattered(const Picks& p, Array values, const Combine* combine = nullptr) {
  const EachFunction each = combine ? combine->each : nullptr;
  if ((!combine || each) && p.view.layout.ndim() == 1 && p.indices.size() == 1 &&
      put_picked(p.view, p.indices[0], values, each))
    return true;
  values.layout = broadcast_to("put", values.layout, p.shape());
  Building op;
  build_scatter(*op, p.view, p.indices, p.axis, values, combine);
  op.issue(device_of(p.view));
  return true;
}

// x[mask] = values, where the mask has the array's shape.
bool put_under(const Array& x, const Array& mask, const Array* values, PyObject* value) {
  static const char* op_name = intern("setitem");
  Building op;
  if (values && values->layout.size != 1) {
    build_place(*op, x, mask, *values, Placing::each, op_name);
  } else {
    const DType types[2] = {x.layout.dtype, x.layout.dtype};
    const Array* output = &x;
    Array one;
    Operand operand{};
    if (values)
      one = Array(
          values->storage(),
          Layout{
              .dtype = values->layout.dtype, .shape = {}, .strides = {}, .offset = values->layout.offset, .size = 1}),
      operand.array = &one;
    else if (!put_scalar("setitem", value, x.layout.dtype, operand.scalar.bytes))
      return PyErr_Clear(), false;
    build_masked(*op, op_name, Loop{}, types, &operand, 1, &output, 1, mask);
  }
  op.issue(device_of(x));
  return true;
}

// Whether values may be written or combined into an array, or a number where there are none.
bool may_take(PyObject* self, PyObject* value, const Array* values) {
  const Array& x = as_array(self)->array;
  if (tracing || x.layout.ndim() == 0 || !x.writable()) return false;
  return !values || (values->layout.dtype == x.layout.dtype && values->layout.size > 0 &&
                     as_array(value)->device == as_array(self)->device);
}

bool scattered(PyObject* self, PyObject* index, PyObject* value, const Array* values, const Combine* combine) {
  const Array& x = as_array(self)->array;
  Picks picks;
  if (!PicksReader(self, false, &picks).read(index)) return false;
  Array given = values ? *values : number(value, x.layout.dtype, as_array(self)->device);
  if (!given.storage() || given.layout.ndim() > picks.shape().size()) return false;
  return fit(given.layout, picks.shape()) && scattered(picks, std::move(given), combine);
}

// x[index] = value for arrays of positions and masks. False: not plain.
bool put_directly(PyObject* self, PyObject* index, PyObject* value, const Array* values) {
  const Array& x = as_array(self)->array;
  if (!may_take(self, value, values)) return false;
  const Array* mask = plain_array(index);  // or positions
  if (mask && values && mask->layout.ndim() == 1 && values->layout.ndim() == 1 &&
      mask->layout.size == values->layout.size && as_array(index)->device == as_array(self)->device &&
      put_picked(x, *mask, *values, nullptr))
    return true;
  if (mask && mask->layout.dtype == DType::b1) {
    bool whole =
        mask->layout.shape == x.layout.shape && as_array(index)->device == as_array(self)->device && x.layout.size;
    if (whole) return (!values || values->layout.ndim() <= 1) && put_under(x, *mask, values, value);
  }
  return scattered(self, index, value, values, nullptr);
}

// Whether a ufunc computes with an array of dtype t and this number, seen as an array, in t, and the number is in t
// what it was.
bool computes_in(DType t, PyObject* value) {
  if (PyFloat_CheckExact(value)) return t == DType::f64 || t == DType::c128;
  if (!PyLong_CheckExact(value) || (t != DType::i64 && t != DType::f64 && t != DType::c128)) return false;
  int beyond = 0;
  long long n = PyLong_AsLongLongAndOverflow(value, &beyond);
  return !beyond && n <= 1LL << 53 && n >= -(1LL << 53);
}

}  // namespace

bool combine_directly(PyObject* self, PyObject* index, PyObject* value, const Combine& combine) {
  const Array* values = plain_values(value);
  if (plain_int(index)) {
    if (values && values->layout.ndim()) return false;
    return combine_directly(self, checked(Py_BuildValue("[O]", index)).ptr(), value, combine);
  }
  bool plain = plain_array(self) && (values || computes_in(as_array(self)->array.layout.dtype, value)) &&
               may_take(self, value, values);
  return plain && scattered(self, index, value, values, &combine);
}

bool put_at_once(PyObject* self, int64_t offset, PyObject* value) {
  const Array& x = as_array(self)->array;
  const Array* one = plain_values(value);
  DType t = x.layout.dtype;
  if (x.layout.read_only || !may_work_at_once()) return false;
  const char* from = nullptr;
  Scalar scalar;
  if (one) {
    bool same = one->layout.dtype == t && one->layout.ndim() == 0 && as_array(value)->device == as_array(self)->device;
    if (!same || !(from = values_at_once(*one))) return false;
  } else if (!takes_number(t, value)) {
    return false;
  }
  char* room = room_at_once(*x.storage());
  if (!room) return false;
  if (!one) {
    if (!put_scalar("assign", value, t, scalar.bytes)) return PyErr_Clear(), false;  // what it may call does not write
    from = reinterpret_cast<const char*>(scalar.bytes);
  }
  std::memmove(room + offset, from, item_size(t));
  written_at_once(*x.storage());
  return true;
}

int assign_directly(PyObject* self, PyObject* index, PyObject* value) {
  const Array* x = plain_array(self);
  const Array* values = plain_values(value);
  if (!x || (recording && as_array(self)->node) || (!values && !takes_number(x->layout.dtype, value))) return 0;
  int done = 0;
  PyObject* good = guarded([&] {
    Array view;
    const Array& target = index == Py_Ellipsis ? *x : view;
    if (index != Py_Ellipsis && !basic_index(*x, index, &view)) {
      done = put_directly(self, index, value, values);
      return Py_NewRef(Py_None);
    }
    if (values && as_array(value)->device != as_array(self)->device) return Py_NewRef(Py_None);
    // An element that integers alone name takes one number; the Python function says so.
    if (values && target.layout.ndim() == 0 && values->layout.ndim() > 0) return Py_NewRef(Py_None);
    if (!target.writable()) return Py_NewRef(Py_None);
    if (values)
      done = copy(target, *values);
    else
      fill(target, value), done = 1;
    return Py_NewRef(Py_None);
  });
  if (!good) return -1;
  Py_DECREF(good);
  return done;
}

PyObject* pick_directly(PyObject* self, PyObject* index) {
  const Array* x = plain_array(self);
  if (!x || x->layout.ndim() == 0 || tracing) return nullptr;
  if (const Array* mask = plain_array(index); mask && mask->layout.dtype == DType::b1) {
    bool whole = mask->layout.shape == x->layout.shape && mask->layout.contiguous() && x->layout.contiguous() &&
                 as_array(index)->device == as_array(self)->device;
    if (whole && (x->layout.size > kMostSelected || may_work_at_once()))
      return guarded([&] { return selected(*x, *mask); });
  }
  return guarded([&]() -> PyObject* {
    const Array* one = plain_array(index);
    if (one && one->layout.ndim() && as_array(index)->device == as_array(self)->device)
      if (PyObject* found = picked(*x, *one)) return found;
    Picks picks;
    return PicksReader(self, true, &picks).read(index) ? gathered(picks) : nullptr;
  });
}

}  // namespace forerun
