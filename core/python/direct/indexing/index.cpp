// Elements and slices, read and written, where no Python function is needed to interpret the index and the values.
#include "python/direct/indexing/index.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/compress.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/copy/gather_scatter.h"
#include "cpu/kernels/elementwise/elementwise.h"
#include "cpu/kernels/elementwise/masked_write.h"
#include "cpu/kernels/reduce/count_nonzero.h"
#include "python/bindings.h"
#include "python/direct/creation/from_lists.h"
#include "python/direct/creation/numbers.h"
#include "python/direct/indexing/fill.h"
#include "python/direct/indexing/picks.h"
#include "python/direct/indexing/positions.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/node.h"
#include "python/object/plain.h"
#include "python/object/scalar.h"
#include "python/object/views/basic_index.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

PyObject* gathered(const Picks& p) {
  static const char* op_name = intern("take");
  if (p.indices.size() == 1)
    if (PyObject* found = pick_at(p.view, p.indices[0])) return found;
  Array out = Array::make(p.view.layout.dtype, p.shape(), budget_of(device_of(p.view)));
  Building op;
  build_gather(*op, p.view, p.indices, p.axis, out, op_name);
  op.issue(device_of(p.view));
  return wrap(std::move(out));
}

bool scattered(const Picks& p, Array values, const Combine* combine = nullptr) {
  const EachFunction each = combine ? combine->each : nullptr;
  if ((!combine || each) && p.view.layout.ndim() == 1 && p.indices.size() == 1 &&
      put_at(p.view, p.indices[0], values, each))
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
  const char* hit = mask.layout.contiguous() && mask.layout.size <= kMostCounted ? values_at_once(mask) : nullptr;
  if (hit) (*op).cost = cost_under(mask.layout.size, count_true(hit, mask.layout.size));
  op.issue(device_of(x));
  return true;
}

// Whether values may be written or combined into an array; a number if `values` is null.
bool may_take(PyObject* self, PyObject* value, const Array* values) {
  const Array& x = as_array(self)->array;
  if (tracing || x.layout.ndim() == 0 || !x.writable()) return false;
  return !values || (values->layout.dtype == x.layout.dtype && (values->layout.size > 0 || x.layout.size == 0) &&
                     as_array(value)->device == as_array(self)->device);
}

bool scattered(PyObject* self, PyObject* index, PyObject* value, const Array* values, const Combine* combine) {
  const Array& x = as_array(self)->array;
  Picks picks;
  if (!read_picks(self, index, false, &picks)) return false;
  Array given = values ? *values : numbers_at_once(&value, {}, x.layout.dtype, as_array(self)->device);
  if (!given.storage() || given.layout.ndim() > picks.shape().size()) return false;
  return fit_layout(given.layout, picks.shape()) && scattered(picks, std::move(given), combine);
}

// Whether it is a mask of NumPy, or a list of bools.
bool is_foreign_mask(PyObject* o) {
  if (PyList_CheckExact(o)) return PyList_GET_SIZE(o) > 0 && PyBool_Check(PyList_GET_ITEM(o, 0));
  return PyArray_CheckExact(o) && PyArray_TYPE(reinterpret_cast<PyArrayObject*>(o)) == NPY_BOOL;
}

// The mask as an array of forerun; a list that also has other numbers is returned unchanged.
PyObject* own_mask(PyObject* o) {
  if (PyArray_CheckExact(o)) return array_of_numpy(o);
  nb::object made = nb::steal(array_of_list(o));
  return made && layout_of(made.ptr()).dtype == DType::b1 ? made.release().ptr() : Py_NewRef(o);
}

// The index with forerun's arrays in place of other masks, which are copied. Null: one of them is not plain.
nb::object with_own_masks(PyObject* index) {
  if (is_foreign_mask(index)) return nb::steal(own_mask(index));
  if (!PyTuple_CheckExact(index)) return nb::borrow(index);
  const auto* entries = PySequence_Fast_ITEMS(index);
  const Py_ssize_t n = PyTuple_GET_SIZE(index);
  if (std::none_of(entries, entries + n, is_foreign_mask)) return nb::borrow(index);
  nb::object own = nb::steal(PyTuple_New(n));
  for (Py_ssize_t i = 0; own && i < n; ++i) {
    PyObject* entry = is_foreign_mask(entries[i]) ? own_mask(entries[i]) : Py_NewRef(entries[i]);
    if (!entry) return {};
    PyTuple_SET_ITEM(own.ptr(), i, entry);
  }
  return own;
}

// Whether there is a value for each element under a mask whose values are computed, or one for all.
bool fits_under(PyObject* mask, const Array& values) {
  const Array* known = plain_array(mask);
  const char* hit = known && values.layout.size != 1 ? values_at_once(*known) : nullptr;
  return !hit || count_true(hit, known->layout.size) == values.layout.size;
}

// x[index] = value for arrays of positions and masks. False: not plain.
bool put_directly(PyObject* self, PyObject* given, PyObject* value, const Array* values) {
  const Array& x = as_array(self)->array;
  if (!may_take(self, value, values)) return false;
  const nb::object own = with_own_masks(given);
  PyObject* index = own.ptr();
  if (!own || (index != given && values && !fits_under(index, *values))) return false;
  const Array* mask = plain_array(index);  // or positions
  if (mask && values && mask->layout.ndim() == 1 && values->layout.ndim() == 1 &&
      mask->layout.size == values->layout.size && as_array(index)->device == as_array(self)->device &&
      put_at(x, *mask, *values, nullptr))
    return true;
  if (mask && mask->layout.dtype == DType::b1) {
    bool whole = mask->layout.shape == x.layout.shape && as_array(index)->device == as_array(self)->device;
    if (whole && x.layout.size == 0) return !values || (values->layout.ndim() <= 1 && values->layout.size <= 1);
    if (whole) return (!values || values->layout.ndim() <= 1) && put_under(x, *mask, values, value);
  }
  return scattered(self, index, value, values, nullptr);
}

// Whether a ufunc gives the lowest bits of its result in a wider integer dtype, for numbers that fit the narrow one.
bool is_modular(const char* ufunc) {
  return std::strcmp(ufunc, "add") == 0 || std::strcmp(ufunc, "subtract") == 0 || std::strcmp(ufunc, "multiply") == 0;
}

// Whether a ufunc with an array of dtype t and this number, as an array, computes in t, or gives the same result, and
// the number keeps its value in t.
bool computes_in(DType t, PyObject* value, const Combine& combine) {
  if (plain_int(value) && is_integer(t) && t != DType::i64 && t != DType::u64 && is_modular(combine.ufunc)) {
    Scalar scalar;
    return put_scalar(combine.name, value, t, scalar.bytes) || (PyErr_Clear(), false);
  }
  if (PyFloat_CheckExact(value)) return t == DType::f64 || t == DType::c128;
  if (!PyLong_CheckExact(value) || (t != DType::i64 && t != DType::f64 && t != DType::c128)) return false;
  return is_exact_as_double(value);
}

// Whether one of the first entries of a list is a scalar, whose dtype determines that of the list's array.
bool has_scalar(PyObject* list) {
  constexpr Py_ssize_t kFirst = 4;
  PyObject* const* items = PySequence_Fast_ITEMS(list);
  return std::any_of(items, items + std::min(kFirst, PySequence_Fast_GET_SIZE(list)), is_scalar);
}

// The value of an assignment, as an array if it is a list of numbers or an array of NumPy. Null without an exception
// set: not plain.
nb::object as_values(PyObject* self, PyObject* value) {
  if (PyArray_CheckExact(value)) return tracing ? nb::object() : nb::steal(array_of_numpy(value));
  if (!is_list(value)) return nb::borrow(value);
  Array numbers = listed_numbers(value, as_array(self)->array.layout.dtype, as_array(self)->device);
  if (numbers.storage()) return nb::steal(wrap(std::move(numbers)));
  return tracing || !has_scalar(value) ? nb::object() : nb::steal(array_of_list(value));
}

}  // namespace

bool combine_directly(PyObject* self, PyObject* index, PyObject* value, const Combine& combine) {
  const Array* values = plain_values(value);
  if (plain_int(index)) {
    if (values && values->layout.ndim()) return false;
    return combine_directly(self, checked(Py_BuildValue("[O]", index)).ptr(), value, combine);
  }
  bool plain = plain_array(self) && (values || computes_in(as_array(self)->array.layout.dtype, value, combine)) &&
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
  nb::object number;
  if (one) {
    const bool alone = one->layout.ndim() == 0 && as_array(value)->device == as_array(self)->device;
    const char* data = alone ? values_at_once(*one) : nullptr;
    if (!data) return false;
    if (one->layout.dtype == t)
      from = data;
    else if (convert_element(one->layout.dtype, data, t, scalar.bytes))
      from = reinterpret_cast<const char*>(scalar.bytes);
    else
      number = nb::steal(scalar_at(one->layout.dtype, data));
  } else if (!takes_number(t, value)) {
    number = nb::steal(converted_number(value, t));
  }
  if (number) value = number.ptr();
  if (!from && !takes_number(t, value)) return false;
  char* room = room_at_once(*x.storage());
  if (!room) return false;
  if (!from) {
    // the Python code that it may call does not write
    if (!put_scalar("assign", value, t, scalar.bytes)) return PyErr_Clear(), false;
    from = reinterpret_cast<const char*>(scalar.bytes);
  }
  std::memmove(room + offset, from, item_size(t));
  written_at_once(*x.storage());
  return true;
}

int assign_directly(PyObject* self, PyObject* index, PyObject* value) {
  const Array* x = plain_array(self);
  if (!x || (recording && as_array(self)->node)) return 0;
  const nb::object own = nb::steal(guarded([&] { return as_values(self, value).release().ptr(); }));
  if (!own) return PyErr_Occurred() ? -1 : 0;
  const bool listed = is_list(value);
  value = own.ptr();
  const Array* values = plain_values(value);
  nb::object number;
  if (!values && !takes_number(x->layout.dtype, value)) {
    number = nb::steal(converted_number(value, x->layout.dtype));
    if (!number) return 0;
    value = number.ptr();
  }
  int done = 0;
  PyObject* good = guarded([&] {
    Array view;
    const Array& target = index == Py_Ellipsis ? *x : view;
    if (index != Py_Ellipsis && !basic_index(*x, index, &view)) {
      done = put_directly(self, index, value, values);
      return Py_NewRef(Py_None);
    }
    if (values && as_array(value)->device != as_array(self)->device) return Py_NewRef(Py_None);
    // An element selected by integers takes one number, and lists may not be deeper than the array has axes; the Python
    // function raises the error.
    if (values && target.layout.ndim() == 0 && values->layout.ndim() > 0) return Py_NewRef(Py_None);
    if (listed && values->layout.ndim() > target.layout.ndim()) return Py_NewRef(Py_None);
    if (!target.writable()) return Py_NewRef(Py_None);
    if (values)
      done = copy_into(target, *values);
    else
      fill_view(target, value), done = 1;
    return Py_NewRef(Py_None);
  });
  if (!good) return -1;
  Py_DECREF(good);
  return done;
}

PyObject* pick_directly(PyObject* self, PyObject* index) {
  const Array* x = plain_array(self);
  if (!x || x->layout.ndim() == 0 || tracing) return nullptr;
  const nb::object own = nb::steal(guarded([&] { return with_own_masks(index).release().ptr(); }));
  if (!own) return nullptr;
  index = own.ptr();
  if (const Array* mask = plain_array(index); mask && mask->layout.dtype == DType::b1) {
    bool whole = mask->layout.shape == x->layout.shape && mask->layout.contiguous() && x->layout.contiguous() &&
                 as_array(index)->device == as_array(self)->device;
    if (whole && (x->layout.size > kMostSelected || may_work_at_once()))
      return guarded([&] { return pick_selected(*x, *mask); });
  }
  return guarded([&]() -> PyObject* {
    const Array* one = plain_array(index);
    if (one && one->layout.ndim() && as_array(index)->device == as_array(self)->device)
      if (PyObject* found = pick_at(*x, *one)) return found;
    Picks picks;
    return read_picks(self, index, true, &picks) ? gathered(picks) : nullptr;
  });
}

}  // namespace forerun
