#include "python/array/indexing.h"

#include <cstdint>
#include <utility>

#include "array/array.h"
#include "cpu/loops/loop.h"
#include "python/bindings.h"
#include "python/direct/indexing/index.h"
#include "python/dispatch/fallback.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/node.h"
#include "python/object/plain.h"
#include "python/object/scalar.h"
#include "python/object/views/basic_index.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/interpreter/package_functions.h"
#include "python/runtime/submission/capture.h"

namespace forerun {

namespace {

// Adds the offset of element i along an axis to `offset`; false: i is out of range.
bool step(const Layout& layout, int axis, int64_t i, int64_t* offset) {
  int64_t n = layout.shape[axis];
  if (i < -n || i >= n) return false;
  *offset += (i < 0 ? i + n : i) * layout.strides[axis];
  return true;
}

// The value of a Python integer. False: it is too large for an index.
bool value_of(PyObject* integer, int64_t* value) {
#if PY_VERSION_HEX < 0x030c0000
  // Integers of one digit, as nearly all are, need no call.
  if (Py_SIZE(integer) == 1) return *value = reinterpret_cast<PyLongObject*>(integer)->ob_digit[0], true;
#endif
  int beyond = 0;
  *value = PyLong_AsLongLongAndOverflow(integer, &beyond);
  return !beyond;
}

bool step(const Layout& layout, int axis, PyObject* index, int64_t* offset) {
  int64_t at;
  if (PyLong_CheckExact(index)) return value_of(index, &at) && step(layout, axis, at, offset);
  int64_t i;
  return is_scalar(index) && integer_at_once(index, &i) && step(layout, axis, i, offset);
}

// The most frequent cases: whether an index consists of integers with computed values that select one element; and its
// offset.
bool names_element(const Layout& layout, PyObject* index, int64_t* offset) {
  *offset = layout.offset;
  if (!PyTuple_CheckExact(index)) return layout.ndim() == 1 && step(layout, 0, index, offset);
  int n = layout.ndim();
  if (PyTuple_GET_SIZE(index) != n) return false;
  for (int i = 0; i < n; ++i)
    if (!step(layout, i, PyTuple_GET_ITEM(index, i), offset)) return false;
  return true;
}

// The part of an array at `offset`, without the first axis.
Array row_at(const Array& a, int64_t offset) {
  Layout to;
  to.dtype = a.layout.dtype, to.offset = offset, to.read_only = a.layout.read_only;
  to.shape = Dims(a.layout.shape.begin() + 1, a.layout.ndim() - 1),
  to.strides = Dims(a.layout.strides.begin() + 1, a.layout.ndim() - 1);
  to.size = product(to.shape);
  return Array(a.storage(), std::move(to));
}

bool is_integer_scalar(PyObject* item) { return is_scalar(item) && is_integer(layout_of(item).dtype); }

// The axis of entry i of an index. Entries before an ellipsis count from the first axis, those after it from the last.
int axis_of(PyObject* entries, Py_ssize_t i, int axes) {
  const Py_ssize_t n = PyTuple_GET_SIZE(entries);
  int before = 0, behind = 0;
  bool later = false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* item = PyTuple_GET_ITEM(entries, k);
    later = later || (k < i && item == Py_Ellipsis);
    if (item != Py_None && item != Py_Ellipsis) ++(k < i ? before : behind);
  }
  return later ? axes - behind : before;
}

enum class Unknown { waited_for, left };  // scalars whose values are not computed yet

// A basic index with Python's integers in place of scalars. Null: it contains no scalars, or it selects one element,
// which an operation can read; with Unknown::left also if a scalar's value is not known or is out of range, as only an
// operation can raise that. A captured program has no values: it reads and writes by operations.
nb::object with_integers(const Layout& layout, PyObject* index, Unknown values) {
  const bool tuple = PyTuple_Check(index);
  if (!(tuple || is_integer_scalar(index)) || tracing || capture) return {};
  nb::object entries = tuple ? nb::borrow(index) : nb::steal(PyTuple_Pack(1, index));
  const Py_ssize_t n = PyTuple_GET_SIZE(entries.ptr());
  bool any = false, integers = n == layout.ndim();
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PyTuple_GET_ITEM(entries.ptr(), i);
    const bool known = is_integer_scalar(item);
    if (!known && !is_basic(item)) return {};
    any = any || known;
    integers = integers && (known || PyLong_Check(item) || PyArray_IsScalar(item, Integer));
  }
  if (!any || integers) return {};
  nb::object found = nb::steal(PyTuple_New(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PyTuple_GET_ITEM(entries.ptr(), i);
    int64_t at, offset = 0;
    if (!is_integer_scalar(item)) {
      Py_INCREF(item);
    } else if (values == Unknown::waited_for) {
      if (!(item = PyNumber_Index(item))) throw PythonError{};
    } else {
      const int axis = axis_of(entries.ptr(), i, layout.ndim());
      if (axis < 0 || axis >= layout.ndim() || !integer_at_once(item, &at) || !step(layout, axis, at, &offset))
        return {};
      item = PyLong_FromLongLong(at);
    }
    PyTuple_SET_ITEM(found.ptr(), i, item);
  }
  return found;
}

PyObject* get_item(PyObject* self, PyObject* index) {
  const Array& a = as_array(self)->array;
  if (on_tape(self)) {
    nb::object known;
    if (!guarded([&]() -> PyObject* { return known = with_integers(a.layout, index, Unknown::waited_for), Py_None; }))
      return nullptr;
    return call_package(PackageFunction::getitem, self, known ? known.ptr() : index, nullptr);
  }
  int64_t offset;
  if (a.storage() && names_element(a.layout, index, &offset)) return guarded([&] { return element(a, offset); });
  if ((PyLong_CheckExact(index) || is_scalar(index)) && a.layout.ndim() > 1 && plain_array(self) &&
      step(a.layout, 0, index, &(offset = a.layout.offset)))
    return guarded([&] { return wrap(row_at(a, offset)); });
  PyObject* found = guarded([&]() -> PyObject* {
    if (PyObject* view = read_basic(self, index)) return view;
    nb::object known = with_integers(a.layout, index, Unknown::waited_for);
    return known ? read_basic(self, known.ptr()) : nullptr;
  });
  if (!found && !PyErr_Occurred()) found = pick_directly(self, index);
  return found || PyErr_Occurred() ? found : call_package(PackageFunction::getitem, self, index, nullptr);
}

}  // namespace

PyObject* subscript(PyObject* self, PyObject* index) {
  PyObject* found = get_item(self, index);
  return found ? found : syntax_fallback("getitem", {self, index});
}

bool names_element(PyObject* array, PyObject* index, int64_t* offset) {
  return names_element(layout_of(array), index, offset);
}

PyObject* sequence_item(PyObject* self, Py_ssize_t i) {
  const Array& a = as_array(self)->array;
  int64_t offset = a.layout.offset;
  if (a.layout.ndim() == 1 && a.storage() && !on_tape(self)) {
    if (step(a.layout, 0, i, &offset)) return guarded([&] { return element(a, offset); });
    // The end of every iteration: without a C++ exception, which takes as long as reading many elements.
    return PyErr_Format(PyExc_IndexError, "getitem: index must be in [%lld, %lld), got %zd",
                        static_cast<long long>(-a.layout.size), static_cast<long long>(a.layout.size), i);
  }
  if (a.layout.ndim() > 1 && plain_array(self) && step(a.layout, 0, i, &offset))
    return guarded([&] { return wrap(row_at(a, offset)); });
  PyObject* index = PyLong_FromSsize_t(i);
  PyObject* found = index ? get_item(self, index) : nullptr;
  Py_XDECREF(index);
  return found;
}

static int set_item(PyObject* self, PyObject* index, PyObject* value) {
  int64_t offset;
  if (value && plain_array(self) && names_element(layout_of(self), index, &offset) && put_at_once(self, offset, value))
    return 0;
  if (!value) return PyErr_SetString(PyExc_TypeError, "delitem: array elements cannot be deleted"), -1;
  PyObject* checked = guarded([&]() -> PyObject* { return get_writable("setitem", self), Py_None; });
  if (!checked) return -1;
  nb::object known;
  if (!guarded([&]() -> PyObject* { return known = with_integers(layout_of(self), index, Unknown::left), Py_None; }))
    return -1;
  if (known) index = known.ptr();
  nb::object plain;  // of a value of a class derived from NumPy's array, whose elements are written as they are
  if (numpy_rules && is_derived(value) && PyArray_SIZE(reinterpret_cast<PyArrayObject*>(value)) > 1) {
    plain = nb::steal(PyArray_View(reinterpret_cast<PyArrayObject*>(value), nullptr, &PyArray_Type));
    if (!plain) return -1;
    value = plain.ptr();
  }
  if (int done = assign_directly(self, index, value)) return done < 0 ? -1 : 0;
  PyObject* done = call_package(PackageFunction::setitem, self, index, value);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

int assign_subscript(PyObject* self, PyObject* index, PyObject* value) {
  if (set_item(self, index, value) == 0) return 0;
  PyObject* done = value ? syntax_fallback("setitem", {self, index, value}) : nullptr;
  Py_XDECREF(done);
  return done ? 0 : -1;
}

}  // namespace forerun
