#include "python/array/values.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "array/array.h"
#include "engine/engine.h"
#include "python/array/indexing.h"
#include "python/front_end.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/plain.h"
#include "python/object/scalar.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/interpreter/package_functions.h"
#include "python/runtime/submission/accelerators.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/wait.h"
#include "python/runtime/waiting/wait_log.h"

namespace forerun {

namespace {

// NumPy's message for reading one number from an array that has several elements, or none at all.
const char* numpys_message(ErrorKind kind, bool truth, bool empty) {
  if (kind == ErrorKind::type) return "only 0-dimensional arrays can be converted to Python scalars";
  if (!truth) return "can only convert an array of size 1 to a Python scalar";
  return empty ? "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not "
                 "empty."
               : "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()";
}

Error no_number(const char* op, const Layout& layout) {
  const bool truth = std::strcmp(op, "bool") == 0;
  const ErrorKind kind = truth || std::strcmp(op, "item") == 0 ? ErrorKind::value : ErrorKind::type;
  if (numpy_rules) return {kind, numpys_message(kind, truth, layout.size == 0)};
  return {kind, std::string(op) + ": array must have exactly one element, got shape " + to_string(layout.shape) +
                    (truth ? "; any() and all() give one" : "")};
}

// The only element of a one-element array, once it is computed.
const char* only_element(const char* op, PyObject* self) {
  const Array& a = get_array(op, self);
  if (const char* there = is_scalar(self) ? looked_at_once(a) : nullptr) return there;
  if (a.layout.size != 1) throw no_number(op, a.layout);
  BlockingCall call(op);
  if (!on_host(a)) {
    alignas(16) thread_local char value[16];  // the element that this thread read last
    const Array copy = host_copy(a);
    wait_for(copy);
    std::memcpy(value, copy.storage()->data(), item_size(a.layout.dtype));
    return value;
  }
  wait_for(a);
  // While the interpreter lock is held and all issued writes have ended, no thread writes.
  return a.storage()->data() + a.layout.offset;
}

PyObject* only_scalar(const char* op, PyObject* self) {
  return guarded([&] { return scalar_at(as_array(self)->array.layout.dtype, only_element(op, self)); });
}

int truth(PyObject* self) {
  const bool flag = is_scalar(self) && as_array(self)->array.layout.dtype == DType::b1;
  if (const char* there = flag ? looked_at_once(as_array(self)->array) : nullptr) return *there != 0;
  PyObject* value = only_scalar("bool", self);
  if (!value) return -1;
  int t = PyObject_IsTrue(value);
  Py_DECREF(value);
  return t;
}

template <PyObject* (*convert)(PyObject*)>
PyObject* as_number(const char* op, PyObject* self) {
  PyObject* value = only_scalar(op, self);
  if (!value) return nullptr;
  PyObject* number = convert(value);
  Py_DECREF(value);
  return number;
}
PyObject* to_int(PyObject* self) { return as_number<PyNumber_Long>("int", self); }
PyObject* to_float(PyObject* self) {
  const bool plain = is_scalar(self) && as_array(self)->array.layout.dtype == DType::f64;
  if (const char* there = plain ? looked_at_once(as_array(self)->array) : nullptr) return scalar_at(DType::f64, there);
  return as_number<PyNumber_Float>("float", self);
}
PyObject* to_index(PyObject* self) {
  DType t = as_array(self)->array.layout.dtype;
  const Dims& shape = layout_of(self).shape;
  if (numpy_rules && (!is_integer(t) || shape.size() > 0)) {
    PyErr_SetString(PyExc_TypeError, "only integer scalar arrays can be converted to a scalar index");
    return nullptr;
  }
  if (!is_integer(t)) return PyErr_Format(PyExc_TypeError, "index: array must be of integers, got %s", name(t));
  if (shape.size() > 0)
    return PyErr_Format(PyExc_TypeError, "index: array must have no axes, got shape %s", to_string(shape).c_str());
  return as_number<PyNumber_Index>("index", self);
}
PyObject* to_complex(PyObject* self, PyObject*) {
  PyObject* value = only_scalar("complex", self);
  if (!value) return nullptr;
  Py_complex c = PyComplex_AsCComplex(value);
  Py_DECREF(value);
  return c.real == -1 && PyErr_Occurred() ? nullptr : PyComplex_FromCComplex(c);
}

PyObject* numpy(PyObject* self, PyObject*) {
  BlockingCall call("numpy");
  return guarded([&] { return to_numpy(get_array("numpy", self)); });
}

// NumPy drops any error that an object's buffer raises, and calls __array__ right after it, which would wait again.
// Errors that must not be lost there, as Ctrl-C, are kept for that call.
struct Dropped {
  PyObject *exception = nullptr, *array;
  PyFrameObject* frame;
  int instruction;

  static int here(PyFrameObject* frame) { return frame ? PyFrame_GetLasti(frame) : -1; }
  void keep(PyObject* from) {
    PyObject *type, *trace;
    PyObject* raised;
    PyErr_Fetch(&type, &raised, &trace);
    PyErr_NormalizeException(&type, &raised, &trace);
    // A copy of the exception: the raised one will hold the frames that it passes.
    PyObject* args = PyObject_GetAttrString(raised, "args");
    exception = args ? PyObject_CallObject(type, args) : nullptr;
    Py_XDECREF(args);
    PyErr_Clear();
    array = from, frame = PyEval_GetFrame(), instruction = here(frame);
    PyErr_Restore(type, raised, trace);
  }
  bool raise(PyObject* to) {
    PyFrameObject* now = PyEval_GetFrame();
    bool same = exception && array == to && frame == now && instruction == here(now);
    if (same) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
    Py_CLEAR(exception);
    return same;
  }
  // Whether an error is kept for the call that the caller of the current Python function makes.
  bool waits(PyObject* of) const {
    PyFrameObject* now = PyEval_GetFrame();
    PyFrameObject* caller = now ? PyFrame_GetBack(now) : nullptr;
    const bool same = exception && array == of && frame == caller && instruction == here(caller);
    Py_XDECREF(reinterpret_cast<PyObject*>(caller));
    return same;
  }
} dropped;

// The format of the module struct for the common dtypes; null for others.
const char* struct_format(DType t) {
  switch (t) {
    case DType::f64: return "d";
    case DType::f32: return "f";
    case DType::i64: return sizeof(long) == sizeof(int64_t) ? "l" : "q";
    case DType::i32: return "i";
    case DType::b1: return "?";
    default: return nullptr;
  }
}

// The values of dense elements as a buffer without axes.
void fill_buffer(PyObject* self, Py_buffer* view, const char* values) {
  const Array& a = as_array(self)->array;
  *view = {};
  view->obj = Py_NewRef(self);
  view->buf = const_cast<char*>(values);
  view->len = static_cast<Py_ssize_t>(a.layout.nbytes());
  view->itemsize = 1;
  view->readonly = 1;
  a.storage()->retain_handle();  // an array made from a scalar has a copy
  view->internal = a.storage();
}

// The value of a scalar, to which no operation writes, as a buffer. False: it is not computed, or of a rare dtype.
// NumPy requests the buffer of each element of a list.
bool share_scalar(PyObject* self, Py_buffer* view, int flags) {
  const Array& a = as_array(self)->array;
  const char* format = is_scalar(self) ? struct_format(a.layout.dtype) : nullptr;
  const char* value = format ? looked_at_once(a) : nullptr;
  if (!value) return false;
  fill_buffer(self, view, value);
  view->itemsize = view->len;
  if (flags & PyBUF_FORMAT) view->format = const_cast<char*>(format);
  return true;
}

// Few computed values as a buffer of bytes. `numpy.ndarray(buffer=x)` keeps the address and the array, but not the
// buffer: so the buffer is the array's own memory, while an array of NumPy would have a copy.
bool share_small(PyObject* self, Py_buffer* view, int flags) {
  const Array& a = as_array(self)->array;
  const char* values = a.storage()->memory() == 0 && a.layout.contiguous() ? a.storage()->data() : nullptr;
  if (!values || (flags & (PyBUF_FORMAT | PyBUF_WRITABLE))) return false;
  fill_buffer(self, view, values + a.layout.offset);
  view->ndim = 1;
  if (flags & PyBUF_ND) view->shape = &view->len;
  if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = &view->itemsize;
  return true;
}

// Whether the array may be converted. Raises if it would become an index of NumPy's array with another meaning.
bool convertible(PyObject* self) {
  const Layout& l = as_array(self)->array.layout;
  if (l.size > 0 || l.dtype != DType::b1 || l.ndim() < 2) [[likely]]
    return true;
  PyObject* done = call_package(PackageFunction::no_index, self, nullptr, nullptr);
  Py_XDECREF(done);
  return done != nullptr;
}

// Whether code that will write gets the memory itself: while forerun replaces NumPy.
bool lends_memory(PyObject* self) { return numpy_rules && !is_scalar(self) && as_array(self)->array.writable(); }

// NumPy's array whose buffer is given.
PyObject* buffer_owner(PyObject* self, int flags) {
  if (!(flags & PyBUF_WRITABLE)) return numpy(self, nullptr);
  return guarded([&] { return numpy_alias(get_array("memoryview", self)); });
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  Py_CLEAR(dropped.exception);
  if ((flags & PyBUF_WRITABLE) && !lends_memory(self)) {
    // Without a wait: Julia's PyCall asks each result of a call for such a buffer. The words are NumPy's.
    PyErr_SetString(PyExc_ValueError, "buffer source array is read-only");
    return view->obj = nullptr, -1;
  }
  BlockingCall call("memoryview");
  if (!convertible(self)) return dropped.keep(self), view->obj = nullptr, -1;
  if (share_scalar(self, view, flags)) return 0;
  PyObject* values = buffer_owner(self, flags);
  if (!values) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) dropped.keep(self);
    return view->obj = nullptr, -1;
  }
  const bool shared = share_small(self, view, flags);
  int result = shared ? 0 : PyObject_GetBuffer(values, view, flags);  // owned by `values`
  Py_DECREF(values);
  return result;
}

// Other buffers belong to NumPy's arrays. Without this function numpy.frombuffer would take the address of one, and
// keep only the object.
void release_buffer(PyObject*, Py_buffer* view) {
  if (view->internal) static_cast<Buffer*>(view->internal)->release_handle();
}

PyObject* asnumpy(PyObject* self, PyObject*) {
  BlockingCall call("asnumpy");
  PyObject* view = numpy(self, nullptr);
  if (!view) return nullptr;
  PyObject* copy = PyArray_NewCopy(reinterpret_cast<PyArrayObject*>(view), NPY_CORDER);
  Py_DECREF(view);
  return copy;
}

PyObject* read_was_dropped(PyObject* self, PyObject*) { return PyBool_FromLong(dropped.waits(self)); }

PyObject* to_array(PyObject* self, PyObject* args, PyObject* kwargs) {
  BlockingCall call("__array__");
  static const char* names[] = {"dtype", "copy", nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (dropped.raise(self)) return nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", const_cast<char**>(names), &dtype, &copy)) return nullptr;
  PyObject* view = copy == Py_True ? asnumpy(self, nullptr) : numpy(self, nullptr);
  if (!view || dtype == Py_None) return view;
  PyArray_Descr* want = nullptr;
  if (!PyArray_DescrConverter(dtype, &want)) return Py_DECREF(view), nullptr;
  if (copy == Py_False && !PyArray_EquivTypes(want, PyArray_DESCR(reinterpret_cast<PyArrayObject*>(view)))) {
    Py_DECREF(view), Py_DECREF(want);
    PyErr_SetString(PyExc_ValueError, "__array__: a change of dtype needs a copy, got copy=False");
    return nullptr;
  }
  PyObject* result = PyArray_FromArray(reinterpret_cast<PyArrayObject*>(view), want, NPY_ARRAY_FORCECAST);
  Py_DECREF(view);
  return result;
}

PyObject* via_numpy(PyObject* self, const char* method, PyObject* args) {
  BlockingCall call(method);
  PyObject* view = numpy(self, nullptr);
  if (!view) return nullptr;
  PyObject* f = PyObject_GetAttrString(view, method);
  PyObject* result = f ? PyObject_CallObject(f, args) : nullptr;
  Py_XDECREF(f);
  Py_DECREF(view);
  return result;
}
// The elements at `data` from axis k on, in nested lists.
PyObject* listed(const Layout& l, int k, const char* data) {
  if (k == l.ndim()) return scalar_at(l.dtype, data);
  PyObject* list = PyList_New(l.shape[k]);
  for (int64_t i = 0; list && i < l.shape[k]; ++i) {
    PyObject* one = listed(l, k + 1, data + i * l.strides[k]);
    if (!one)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, one);
  }
  return list;
}

constexpr int64_t kFewListed = 64;  // elements: for more NumPy's function takes less time

PyObject* tolist(PyObject* self, PyObject*) {
  const Array& a = as_array(self)->array;
  if (const char* there = a.layout.size <= kFewListed && a.layout.dtype != DType::bf16 ? looked_at_once(a) : nullptr)
    return listed(a.layout, 0, there);
  return via_numpy(self, "tolist", nullptr);
}
PyObject* item(PyObject* self, PyObject* args) {
  if (PyTuple_GET_SIZE(args) == 0) return only_scalar("item", self);
  int64_t offset;
  if (plain_array(self) && on_host(as_array(self)->array) &&
      names_element(self, PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : args, &offset)) {
    return guarded([&] {
      BlockingCall call("item");
      const Array& a = as_array(self)->array;
      wait_for(a);
      return scalar_at(a.layout.dtype, a.storage()->data() + offset);
    });
  }
  return via_numpy(self, "item", args);
}

PyObject* wait(PyObject* self, PyObject*) {
  return guarded([&] {
    wait_for(get_array("wait", self));
    return Py_NewRef(Py_None);
  });
}

PyMethodDef methods[] = {
    {"wait", exclusive<wait>, METH_NOARGS,
     "wait($self, /)\n--\n\nWait until the values are computed. Raises the error of their computation."},
    {"wait_to_read", exclusive<wait>, METH_NOARGS,
     "wait_to_read($self, /)\n--\n\nWait until the values are computed. Raises the error of their computation."},
    {"numpy", exclusive<numpy>, METH_NOARGS,
     "numpy($self, /)\n--\n\nA read-only numpy array of the values as they are now, without a copy where possible. "
     "Waits."},
    {"asnumpy", exclusive<asnumpy>, METH_NOARGS,
     "asnumpy($self, /)\n--\n\nA numpy array with a copy of the values. Waits."},
    {"item", exclusive<item>, METH_VARARGS, "item($self, /, *args)\n--\n\nOne element as a Python scalar. Waits."},
    {"tolist", exclusive<tolist>, METH_NOARGS,
     "tolist($self, /)\n--\n\nThe values as nested lists of Python scalars. Waits."},
    {"__array__", reinterpret_cast<PyCFunction>(exclusive<to_array>), METH_VARARGS | METH_KEYWORDS,
     "__array__($self, /, dtype=None, copy=None)\n--\n\nThe values for NumPy. Waits."},
    {"_read_was_dropped", exclusive<read_was_dropped>, METH_NOARGS,
     "_read_was_dropped($self, /)\n--\n\nWhether NumPy has just dropped an exception of a read, which __array__ "
     "raises."},
    {"__complex__", exclusive<to_complex>, METH_NOARGS,
     "__complex__($self, /)\n--\n\nThe only element as a complex number. Waits."},
    {},
};

#define FN(f) reinterpret_cast<void*>(f)
const PyType_Slot slots[] = {
    {Py_tp_methods, methods},
    {Py_bf_getbuffer, FN(exclusive<get_buffer>)},
    {Py_bf_releasebuffer, FN(exclusive<release_buffer>)},
    {Py_nb_bool, FN(exclusive<truth>)},
    {Py_nb_int, FN(exclusive<to_int>)},
    {Py_nb_float, FN(exclusive<to_float>)},
    {Py_nb_index, FN(exclusive<to_index>)},
};
#undef FN

}  // namespace

std::span<const PyType_Slot> value_slots() { return slots; }

}  // namespace forerun
