#include "python/dispatch/operator_table.h"

#include <cstring>

#include "python/dispatch/ufunc_type.h"
#include "python/numpy_api.h"
#include "python/runtime/gil.h"

namespace forerun {

namespace {

constexpr const char* kSlotNames[] = {"add",         "subtract",      "multiply",   "divide",      "floor_divide",
                                      "remainder",   "power",         "negative",   "positive",    "absolute",
                                      "invert",      "bitwise_and",   "bitwise_or", "bitwise_xor", "left_shift",
                                      "right_shift", "less",          "less_equal", "equal",       "not_equal",
                                      "greater",     "greater_equal", "square",     "sqrt",        "reciprocal"};
constexpr const char* kHookNames[] = {"getitem", "setitem", "matmul", "fit", "asarray", "transpose"};
static_assert(std::size(kSlotNames) == static_cast<size_t>(Slot::count) &&
              std::size(kHookNames) == static_cast<size_t>(Hook::count));

PyObject* slots[static_cast<int>(Slot::count)];
PyObject* hooks[static_cast<int>(Hook::count)];
PyObject* devices;

template <size_t n>
PyObject*& named(const char* const (&names)[n], PyObject** table, const char* name) {
  for (size_t i = 0; i < n; ++i)
    if (std::strcmp(names[i], name) == 0) return table[i];
  throw Error(ErrorKind::value, std::string("no such slot: ") + name);
}

}  // namespace

PyObject* call_slot(Slot slot, PyObject* const* inputs, Py_ssize_t n, PyObject* out) {
  PyObject* op = slots[static_cast<int>(slot)];
  if (!op)
    return PyErr_Format(PyExc_NotImplementedError,
                        "%s: forerun.np must be imported first, got an array made without it",
                        kSlotNames[static_cast<int>(slot)]);
  return call_ufunc(reinterpret_cast<UfuncObject*>(op), inputs, n, out, nullptr);
}

std::span<const char* const> slot_names() { return kSlotNames; }

std::span<const char* const> hook_names() { return kHookNames; }

PyObject* slot_op(Slot slot) { return slots[static_cast<int>(slot)]; }

void set_slot(const char* name, PyObject* ufunc) {
  get_ufunc("set_slot", ufunc);
  Py_XSETREF(named(kSlotNames, slots, name), Py_NewRef(ufunc));
}

PyObject* call_hook(Hook hook, PyObject* a, PyObject* b, PyObject* c) {
  PyObject* f = hooks[static_cast<int>(hook)];
  if (!f)
    return PyErr_Format(PyExc_NotImplementedError,
                        "%s: forerun.np must be imported first, got an array made without it",
                        kHookNames[static_cast<int>(hook)]);
  return till_the_end([&] { return PyObject_CallFunctionObjArgs(f, a, b, c, nullptr); });
}

void set_hook(const char* name, PyObject* function) { Py_XSETREF(named(kHookNames, hooks, name), Py_NewRef(function)); }

PyObject* device_object(int device) {
  if (!devices || device >= PyList_GET_SIZE(devices)) return PyLong_FromLong(device);
  return Py_NewRef(PyList_GET_ITEM(devices, device));
}

void set_devices(PyObject* list) { Py_XSETREF(devices, Py_NewRef(list)); }

namespace {

// Applies one entry of an index to axis `axis` of `view`; true if it used the axis up.
struct Walk {
  const Layout& from;
  Layout& to;
  int axis = 0;
  int64_t shape[kMaxDims], strides[kMaxDims];
  int n = 0;
  void keep(int64_t extent, int64_t stride) {
    if (n == kMaxDims) throw Error(ErrorKind::index, "getitem: arrays must have at most 64 dimensions");
    shape[n] = extent, strides[n++] = stride;
  }
};

// Whether an integer is in [2**63, 2**64), for which NumPy has another exception than for those farther off.
bool only_unsigned(PyObject* item) {
  PyErr_Clear();
  PyObject* number = PyNumber_Index(item);
  if (number) PyLong_AsUnsignedLongLong(number);
  bool fits = !PyErr_Occurred();
  PyErr_Clear();
  Py_XDECREF(number);
  return fits;
}

void take_int(Walk& w, PyObject* item) {
  int64_t i = PyNumber_AsSsize_t(item, PyExc_IndexError), extent = w.from.shape[w.axis];
  if (i == -1 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_IndexError))
      PyErr_Format(only_unsigned(item) ? PyExc_OverflowError : PyExc_IndexError,
                   "getitem: index must be in [%lld, %lld), got %S", static_cast<long long>(-extent),
                   static_cast<long long>(extent), item);
    throw PythonError{};
  }
  if (i < -extent || i >= extent)
    throw Error(ErrorKind::index, "getitem: index must be in [" + std::to_string(-extent) + ", " +
                                      std::to_string(extent) + "), got " + std::to_string(i));
  w.to.offset += (i < 0 ? i + extent : i) * w.from.strides[w.axis++];
}

void take_slice(Walk& w, PyObject* item) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(item, &start, &stop, &step) < 0) throw PythonError{};
  Py_ssize_t n = PySlice_AdjustIndices(w.from.shape[w.axis], &start, &stop, step);
  if (n > 0) w.to.offset += start * w.from.strides[w.axis];
  w.keep(n, w.from.strides[w.axis++] * step);
}

bool is_basic(PyObject* item) {
  return item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || (PyLong_Check(item) && !PyBool_Check(item)) ||
         PyArray_IsScalar(item, Integer);
}

}  // namespace

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
  if (ellipses > 1)
    throw Error(ErrorKind::index, "getitem: an index must have at most one Ellipsis, got " + std::to_string(ellipses));
  const Layout& from = array.layout;
  if (used > from.ndim())
    throw Error(ErrorKind::index, "getitem: an index must have at most " + std::to_string(from.ndim()) +
                                      " entries for shape " + to_string(from.shape) + ", got " + std::to_string(used));
  Layout to;
  to.dtype = from.dtype;
  to.offset = from.offset, to.read_only = from.read_only;
  Walk w{from, to, 0, {}, {}, 0};
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = entry(i);
    if (item == Py_None)
      w.keep(1, 0);
    else if (item == Py_Ellipsis)
      for (int rest = from.ndim() - used; rest > 0; --rest) w.keep(from.shape[w.axis], from.strides[w.axis]), ++w.axis;
    else if (PySlice_Check(item))
      take_slice(w, item);
    else
      take_int(w, item);
  }
  for (; w.axis < from.ndim(); ++w.axis) w.keep(from.shape[w.axis], from.strides[w.axis]);
  to.shape = Dims(w.shape, w.n);
  to.strides = Dims(w.strides, w.n);
  to.size = product(to.shape);
  if (single) *single = w.n == 0 && !ellipses;
  *view = Array(array.storage(), std::move(to));
  return true;
}

}  // namespace forerun
