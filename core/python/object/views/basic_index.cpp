#include "python/object/views/basic_index.h"

#include <cstdint>
#include <utility>

#include "array/array.h"
#include "array/basic_index.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/create.h"
#include "python/object/scalar.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

namespace {

// Whether an integer is in [2**63, 2**64), for which NumPy raises another exception than for larger ones.
bool only_unsigned(PyObject* item) {
  PyErr_Clear();
  PyObject* number = PyNumber_Index(item);
  if (number) PyLong_AsUnsignedLongLong(number);
  bool fits = !PyErr_Occurred();
  PyErr_Clear();
  Py_XDECREF(number);
  return fits;
}

int64_t integer_of(PyObject* item, int64_t extent) {
  int64_t i = PyNumber_AsSsize_t(item, PyExc_IndexError);
  if (i == -1 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_IndexError))
      PyErr_Format(only_unsigned(item) ? PyExc_OverflowError : PyExc_IndexError,
                   "getitem: index must be in [%lld, %lld), got %S", static_cast<long long>(-extent),
                   static_cast<long long>(extent), item);
    throw PythonError{};
  }
  return i;
}

void add_slice(BasicIndex& to, PyObject* item) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(item, &start, &stop, &step) < 0) throw PythonError{};
  to.slice(start, stop, step);
}

}  // namespace

bool is_basic(PyObject* item) {
  return item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || (PyLong_Check(item) && !PyBool_Check(item)) ||
         PyArray_IsScalar(item, Integer);
}

bool basic_index(const Array& array, PyObject* index, Array* view, bool* single) {
  bool tuple = PyTuple_Check(index);
  Py_ssize_t count = tuple ? PyTuple_GET_SIZE(index) : 1;
  auto entry = [&](Py_ssize_t i) { return tuple ? PyTuple_GET_ITEM(index, i) : index; };
  int used = 0, ellipses = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = entry(i);
    if (!is_basic(item)) return false;
    ellipses += item == Py_Ellipsis;
    used += item != Py_None && item != Py_Ellipsis;
  }
  BasicIndex selection(array.layout, used, ellipses);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = entry(i);
    if (item == Py_None)
      selection.new_axis();
    else if (item == Py_Ellipsis)
      selection.ellipsis();
    else if (PySlice_Check(item))
      add_slice(selection, item);
    else
      selection.integer(integer_of(item, selection.extent()));
  }
  Layout selected = selection.selected();
  if (single) *single = selection.single();
  *view = Array(array.storage(), std::move(selected));
  return true;
}

PyObject* read_basic(PyObject* self, PyObject* index) {
  Array view;
  bool single = false;
  if (!basic_index(get_array("getitem", self), index, &view, &single)) return nullptr;
  if (single) return element(view, view.layout.offset);
  return is_scalar(self) ? wrap(copied(view, view.layout.dtype, device_of(view))) : wrap(std::move(view));
}

}  // namespace forerun
