// The type forerun._core.Array: operators, attributes, reading values.
#include "python/object/array_type.h"

#include <structmember.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "array/array.h"
#include "engine/engine.h"
#include "python/autograd/leaf.h"
#include "python/bindings.h"
#include "python/capture/capture.h"
#include "python/direct/function_type.h"
#include "python/direct/matmul.h"
#include "python/direct/shape.h"
#include "python/dispatch/operator_table.h"
#include "python/numpy_api.h"
#include "python/object/array_indexing.h"
#include "python/object/dtypes.h"
#include "python/object/iterators.h"
#include "python/object/numpy_interop.h"
#include "python/object/python_scalars.h"
#include "python/object/scalar.h"
#include "python/runtime/accelerators.h"
#include "python/runtime/at_once.h"
#include "python/runtime/devices.h"
#include "python/runtime/errors.h"
#include "python/runtime/package_functions.h"
#include "python/runtime/task_errors.h"
#include "python/runtime/waiting/wait.h"
#include "python/runtime/waiting/wait_log.h"

namespace forerun {

PyTypeObject* array_base = nullptr;
PyTypeObject* array_type = nullptr;
PyTypeObject* scalar_type = nullptr;

const Array& get_array(const char* op, PyObject* o) {
  if (!is_array(o))
    throw Error(ErrorKind::type, std::string(op) + ": operand must be a forerun array, got " + Py_TYPE(o)->tp_name);
  if (!as_array(o)->array.storage())
    throw Error(ErrorKind::runtime, std::string(op) + ": the array's value was not kept");
  return as_array(o)->array;
}

// --- objects ---------------------------------------------------------------------------------------------------------

namespace {

constexpr int kFree = (8 << 20) / sizeof(ArrayObject);  // as many as there may be of their storages (base/free_list.h)
PyObject* free_objects[kFree];  // of array_type or scalar_type exactly; guarded by the interpreter lock
int n_free = 0;

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_array(self)->node);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(as_array(self)->node);
  return 0;
}

void dealloc(PyObject* self) {
  ArrayObject* a = as_array(self);
  if (a->tracked) PyObject_GC_UnTrack(self);
  if (a->weak) PyObject_ClearWeakRefs(self);
  Py_CLEAR(a->node);  // nodes hold their inputs in tuples, which unwind long chains without deep recursion
  a->array.~Array();
  PyTypeObject* type = Py_TYPE(self);
  if ((type == array_type || type == scalar_type) && n_free < kFree)
    free_objects[n_free++] = self;
  else
    PyObject_GC_Del(self);
  Py_DECREF(type);
}

template <class... Given>
inline PyObject* wrapped_as(PyTypeObject* type, Given&&... array) {
  PyObject* self;
  if (n_free > 0) {
    self = free_objects[--n_free];
    PyObject_Init(self, type);
  } else if (!(self = reinterpret_cast<PyObject*>(PyObject_GC_New(ArrayObject, type)))) {
    return nullptr;
  }
  ArrayObject* a = as_array(self);
  a->weak = a->node = nullptr;
  a->index = 0, a->tracked = false;
  new (&a->array) Array(std::forward<Given>(array)...);
  a->device = a->array.storage() ? device_of(a->array) : 0;
  return self;
}

}  // namespace

PyObject* wrap(Array array) { return wrapped_as(array_type, std::move(array)); }
PyObject* wrap_result(Array array) {
  return wrapped_as(array.layout.shape.empty() ? scalar_type : array_type, std::move(array));
}

PyObject* wrap_element(Buffer* storage, DType dtype, int64_t offset) {
  return wrapped_as(scalar_type, storage, dtype, offset);
}

void trim_objects() {
  while (n_free > 0) PyObject_GC_Del(free_objects[--n_free]);
}

void set_node(ArrayObject* array, PyObject* node, int64_t index) {
  Py_XSETREF(array->node, Py_XNewRef(node));
  array->index = index;
  auto* self = reinterpret_cast<PyObject*>(array);
  if (!node || array->tracked) return;
  array->tracked = true;
  PyObject_GC_Track(self);
}

// --- numbers ---------------------------------------------------------------------------------------------------------

namespace {

bool is_operand(PyObject* o) {
  return is_array(o) || PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) || PyComplex_CheckExact(o) ||
         PyArray_Check(o) || PyArray_IsScalar(o, Generic);
}

bool is_list(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }

// op(a, b) with lists as arrays, into `out` if there is one.
PyObject* call_binary(Operator which, PyObject* a, PyObject* b, PyObject* out) {
  if (!out && (is_scalar(a) || is_scalar(b)))
    if (PyObject* result = calculated_at_once(which, a, b); result || PyErr_Occurred()) return result;
  if (!(is_operand(a) || is_list(a)) || !(is_operand(b) || is_list(b))) Py_RETURN_NOTIMPLEMENTED;
  PyObject* inputs[2] = {a, b};
  if (!is_list(a) && !is_list(b)) return call_operator(which, inputs, 2, out);
  bool first = is_list(a);
  PyObject* device = is_array(inputs[first]) ? device_object(as_array(inputs[first])->device) : Py_NewRef(Py_None);
  PyObject* array = device ? call_package(PackageFunction::asarray, inputs[!first], Py_None, device) : nullptr;
  Py_XDECREF(device);
  if (!array) return nullptr;
  inputs[!first] = array;
  PyObject* result = call_operator(which, inputs, 2, out);
  Py_DECREF(array);
  return result;
}

template <Operator which>
PyObject* binary(PyObject* a, PyObject* b) {
  return call_binary(which, a, b, nullptr);
}

template <Operator which>
PyObject* in_place(PyObject* a, PyObject* b) {
  return call_binary(which, a, b, is_scalar(a) ? nullptr : a);
}

// As NumPy's, a scalar of an integer repeats lists and tuples, which is what sequences do where this gives
// NotImplemented.
bool repeats(PyObject* list, PyObject* times) {
  return is_scalar(times) && is_list(list) && is_integer(as_array(times)->array.layout.dtype);
}

PyObject* multiply(PyObject* a, PyObject* b) {
  if (repeats(a, b) || repeats(b, a)) Py_RETURN_NOTIMPLEMENTED;
  return call_binary(Operator::multiply, a, b, nullptr);
}

template <Operator which>
PyObject* unary(PyObject* a) {
  return call_operator(which, &a, 1, nullptr);
}

// Powers that NumPy's operator does by another function, which is faster and may have other last bits.
Operator power_operator(PyObject* a, PyObject* b) {
  bool number = PyFloat_CheckExact(b) || PyLong_CheckExact(b);
  if (!number || !is_array(a) || !is_inexact(as_array(a)->array.layout.dtype)) return Operator::power;
  double exponent = PyFloat_AsDouble(b);
  if (exponent == -1 && PyErr_Occurred()) {  // too large an integer
    PyErr_Clear();
    return Operator::power;
  }
  if (exponent == 0.5) return Operator::sqrt;
  if (is_complex(as_array(a)->array.layout.dtype) && PyFloat_CheckExact(b)) return Operator::power;
  return exponent == 2 ? Operator::square : exponent == -1 ? Operator::reciprocal : Operator::power;
}

PyObject* power(PyObject* a, PyObject* b, PyObject*) {
  Operator which = power_operator(a, b);
  return which == Operator::power ? binary<Operator::power>(a, b) : call_operator(which, &a, 1, nullptr);
}
PyObject* in_place_power(PyObject* a, PyObject* b, PyObject*) {
  Operator which = power_operator(a, b);
  return which == Operator::power ? in_place<Operator::power>(a, b)
                                  : call_operator(which, &a, 1, is_scalar(a) ? nullptr : a);
}

PyObject* matmul(PyObject* a, PyObject* b) {
  if (!(is_array(a) || PyArray_Check(a)) || !(is_array(b) || PyArray_Check(b))) Py_RETURN_NOTIMPLEMENTED;
  if (PyObject* product = matmul_directly(a, b); product || PyErr_Occurred()) return product;
  return call_package(PackageFunction::matmul, a, b, nullptr);
}

PyObject* compare(PyObject* a, PyObject* b, int how) {
  const Operator operators[] = {Operator::less,      Operator::less_equal, Operator::equal,
                                Operator::not_equal, Operator::greater,    Operator::greater_equal};
  return call_binary(operators[how], a, b, nullptr);
}

// --- reading values: these wait --------------------------------------------------------------------------------------

// The values of an array if they are computed, and the read need not be reported to a guard, a capture or the profiler.
const char* looked_at_once(const Array& a) {
  return guards || capture || Engine::get().trace.on() || !a.storage() ? nullptr : values_at_once(a);
}

// The first element of a one-element array, once it is computed.
const char* only_element(const char* op, PyObject* self) {
  const Array& a = get_array(op, self);
  if (const char* there = is_scalar(self) ? looked_at_once(a) : nullptr) return there;
  if (a.layout.size != 1)
    throw Error(std::strcmp(op, "bool") == 0 || std::strcmp(op, "item") == 0 ? ErrorKind::value : ErrorKind::type,
                std::string(op) + ": array must have exactly one element, got shape " + to_string(a.layout.shape) +
                    (std::strcmp(op, "bool") == 0 ? "; any() and all() give one" : ""));
  BlockingCall call(op);
  if (!on_host(a)) {
    alignas(16) thread_local char value[16];  // that was read last by this thread
    const Array copy = host_copy(a);
    wait_for(copy);
    std::memcpy(value, copy.storage()->data(), item_size(a.layout.dtype));
    return value;
  }
  wait_for(a);
  // With the interpreter lock held, and all issued writes over, no thread writes.
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

// NumPy drops whatever an object's buffer raises, and calls __array__ in the same breath, which would wait again. What
// must not get lost there, Ctrl-C above all, is kept for that call.
struct Dropped {
  PyObject *exception = nullptr, *array;
  PyFrameObject* frame;
  int instruction;

  static int here(PyFrameObject* frame) { return frame ? PyFrame_GetLasti(frame) : -1; }
  void keep(PyObject* from) {
    if (PyErr_ExceptionMatches(PyExc_Exception)) return;
    PyObject *type, *trace;
    PyObject* raised;
    PyErr_Fetch(&type, &raised, &trace);
    PyErr_NormalizeException(&type, &raised, &trace);
    // Another of its kind: the one that is raised will hold the frames that it passes.
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
} dropped;

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  BlockingCall call("memoryview");
  Py_CLEAR(dropped.exception);
  PyObject* values = numpy(self, nullptr);
  if (!values) return dropped.keep(self), view->obj = nullptr, -1;
  int result = PyObject_GetBuffer(values, view, flags);  // belongs to `values`, which is read-only
  Py_DECREF(values);
  return result;
}

// Nothing to do, and still needed: from an object without it numpy.frombuffer would take the address, and keep the
// object alone.
void release_buffer(PyObject*, Py_buffer*) {}

PyObject* asnumpy(PyObject* self, PyObject*) {
  BlockingCall call("asnumpy");
  PyObject* view = numpy(self, nullptr);
  if (!view) return nullptr;
  PyObject* copy = PyArray_NewCopy(reinterpret_cast<PyArrayObject*>(view), NPY_CORDER);
  Py_DECREF(view);
  return copy;
}

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
// The elements from axis k on, of those at `data`, in nested lists.
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

constexpr int64_t kFewListed = 64;  // elements: of more NumPy's function takes less time

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

// --- attributes ------------------------------------------------------------------------------------------------------

Py_ssize_t length(PyObject* self) {
  const Layout& layout = as_array(self)->array.layout;
  if (layout.ndim() > 0) return layout.shape[0];
  PyErr_SetString(PyExc_TypeError, "len: array must have at least one dimension, got shape ()");
  return -1;
}

PyObject* tuple_of(const Dims& dims) {
  PyObject* tuple = PyTuple_New(dims.size());
  for (int i = 0; tuple && i < dims.size(); ++i) PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(dims[i]));
  return tuple;
}

PyObject* get_shape(PyObject* s, void*) { return tuple_of(layout_of(s).shape); }
PyObject* get_strides(PyObject* s, void*) { return tuple_of(layout_of(s).strides); }
PyObject* get_ndim(PyObject* s, void*) { return PyLong_FromLong(layout_of(s).ndim()); }
PyObject* get_size(PyObject* s, void*) { return PyLong_FromLongLong(layout_of(s).size); }
PyObject* get_itemsize(PyObject* s, void*) { return PyLong_FromSize_t(item_size(layout_of(s).dtype)); }
PyObject* get_nbytes(PyObject* s, void*) { return PyLong_FromLongLong(layout_of(s).nbytes()); }
PyObject* get_dtype(PyObject* s, void*) { return Py_NewRef(dtype_object(layout_of(s).dtype)); }
PyObject* get_reversed(PyObject* s, void*) {
  PyObject* view = guarded([&] { return reversed_axes(s); });
  return view || PyErr_Occurred() ? view : call_package(PackageFunction::transpose, s, nullptr, nullptr);
}
PyObject* get_device(PyObject* s, void*) { return device_object(as_array(s)->device); }
PyObject* get_ready(PyObject* s, void*) {
  return PyBool_FromLong(as_array(s)->array.storage() && as_array(s)->array.storage()->settled());
}
PyObject* get_grad(PyObject* s, void*) {
  PyObject* node = as_array(s)->node;
  return Py_NewRef(node && PyObject_TypeCheck(node, leaf_type) ? as_leaf(node)->grad : Py_None);
}
PyObject* get_node(PyObject* s, void*) { return Py_NewRef(as_array(s)->node ? as_array(s)->node : Py_None); }
int put_node(PyObject* s, PyObject* node, void*) {
  set_node(as_array(s), node == Py_None ? nullptr : node, 0);
  return 0;
}

PyGetSetDef attributes[] = {
    {"shape", get_shape, nullptr, "Extents of the axes.", nullptr},
    {"strides", get_strides, nullptr, "Bytes from one element to the next, per axis.", nullptr},
    {"ndim", get_ndim, nullptr, "Number of axes.", nullptr},
    {"size", get_size, nullptr, "Number of elements.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"dtype", get_dtype, nullptr, "Type of the elements, a numpy.dtype.", nullptr},
    {"T", get_reversed, nullptr, "A view with the axes reversed.", nullptr},
    {"flat", get_flat, put_flat, "The elements in C order: an iterator that is indexed, and written to, like a vector.",
     nullptr},
    {"device", get_device, nullptr, "Where the array lives.", nullptr},
    {"ready", get_ready, nullptr, "Whether all issued writes have ended. Does not wait.", nullptr},
    {"grad", get_grad, nullptr, "The gradient of a leaf of the tape, or None.", nullptr},
    {"node", get_node, put_node, "Place on the tape, or None.", nullptr},
    {},
};
PyMemberDef members[] = {
    {"index", T_LONGLONG, offsetof(ArrayObject, index), 0, "Which output of its node the array is."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak), READONLY, nullptr},
    {},
};
PyMethodDef methods[] = {
    {"wait", wait, METH_NOARGS, "Wait until the values are computed. Raises the error of their computation."},
    {"wait_to_read", wait, METH_NOARGS, "Wait until the values are computed. Raises the error of their computation."},
    {"numpy", numpy, METH_NOARGS,
     "A read-only numpy array of the values as they are now, without a copy where possible. Waits."},
    {"asnumpy", asnumpy, METH_NOARGS, "A numpy array with a copy of the values. Waits."},
    {"item", item, METH_VARARGS, "One element as a Python scalar. Waits."},
    {"tolist", tolist, METH_NOARGS, "The values as nested lists of Python scalars. Waits."},
    {"__array__", reinterpret_cast<PyCFunction>(to_array), METH_VARARGS | METH_KEYWORDS,
     "The values for NumPy. Waits."},
    {"__complex__", to_complex, METH_NOARGS,
     "__complex__($self, /)\n--\n\nThe only element as a complex number. Waits."},
    {},
};

#define FN(f) reinterpret_cast<void*>(f)
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("The core's part of an array; forerun.np.ndarray derives from it.")},
    {Py_tp_traverse, FN(traverse)},
    {Py_tp_clear, FN(clear)},
    {Py_tp_dealloc, FN(dealloc)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {Py_tp_richcompare, FN(compare)},
    {Py_tp_hash, FN(PyObject_HashNotImplemented)},
    {Py_bf_getbuffer, FN(get_buffer)},
    {Py_bf_releasebuffer, FN(release_buffer)},
    {Py_nb_add, FN(binary<Operator::add>)},
    {Py_nb_subtract, FN(binary<Operator::subtract>)},
    {Py_nb_multiply, FN(multiply)},
    {Py_nb_true_divide, FN(binary<Operator::divide>)},
    {Py_nb_floor_divide, FN(binary<Operator::floor_divide>)},
    {Py_nb_remainder, FN(binary<Operator::remainder>)},
    {Py_nb_power, FN(power)},
    {Py_nb_and, FN(binary<Operator::bitwise_and>)},
    {Py_nb_or, FN(binary<Operator::bitwise_or>)},
    {Py_nb_xor, FN(binary<Operator::bitwise_xor>)},
    {Py_nb_lshift, FN(binary<Operator::left_shift>)},
    {Py_nb_rshift, FN(binary<Operator::right_shift>)},
    {Py_nb_inplace_add, FN(in_place<Operator::add>)},
    {Py_nb_inplace_subtract, FN(in_place<Operator::subtract>)},
    {Py_nb_inplace_multiply, FN(in_place<Operator::multiply>)},
    {Py_nb_inplace_true_divide, FN(in_place<Operator::divide>)},
    {Py_nb_inplace_floor_divide, FN(in_place<Operator::floor_divide>)},
    {Py_nb_inplace_remainder, FN(in_place<Operator::remainder>)},
    {Py_nb_inplace_power, FN(in_place_power)},
    {Py_nb_inplace_and, FN(in_place<Operator::bitwise_and>)},
    {Py_nb_inplace_or, FN(in_place<Operator::bitwise_or>)},
    {Py_nb_inplace_xor, FN(in_place<Operator::bitwise_xor>)},
    {Py_nb_inplace_lshift, FN(in_place<Operator::left_shift>)},
    {Py_nb_inplace_rshift, FN(in_place<Operator::right_shift>)},
    {Py_nb_negative, FN(unary<Operator::negative>)},
    {Py_nb_positive, FN(unary<Operator::positive>)},
    {Py_nb_absolute, FN(unary<Operator::absolute>)},
    {Py_nb_invert, FN(unary<Operator::invert>)},
    {Py_nb_matrix_multiply, FN(matmul)},
    {Py_nb_bool, FN(truth)},
    {Py_nb_int, FN(to_int)},
    {Py_nb_float, FN(to_float)},
    {Py_nb_index, FN(to_index)},
    {Py_mp_length, FN(length)},
    {Py_mp_subscript, FN(get_item)},
    {Py_mp_ass_subscript, FN(set_item)},
    {Py_tp_iter, FN(iterate)},
    {Py_sq_item, FN(sequence_item)},
    {Py_sq_length, FN(length)},
    {},
};
#undef FN
PyType_Spec spec = {"forerun._core.Array", sizeof(ArrayObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

}  // namespace

PyTypeObject* make_array_type() {
  array_base = array_type = scalar_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return array_base;
}

// A subclass without members of its own has nothing more to tear down. Python looks up __getitem__ for each step of an
// iteration over a class that it made itself, which is as fast as this one.
static void shorten(PyTypeObject* type) {
  if (type->tp_basicsize == array_base->tp_basicsize && type->tp_dictoffset == 0) type->tp_dealloc = dealloc;
  type->tp_as_sequence->sq_item = sequence_item;
}

void set_array_type(PyTypeObject* type) { shorten(array_type = type); }
void set_scalar_type(PyTypeObject* type) { shorten(scalar_type = type); }

void refuse_write(const char* op, const Array& array) {
  const Layout& l = array.layout;
  auto error = [&](const char* must, const char* got) {
    return Error(ErrorKind::value,
                 std::string(op) + ": destination must " + must + ", got " + got + " of shape " + to_string(l.shape));
  };
  for (int i = 0; i < l.ndim() && l.size > 0; ++i)
    if (l.strides[i] == 0 && l.shape[i] > 1) throw error("not repeat elements", "a broadcast view");
  if (l.read_only) throw error("be writable", "a read-only view");
  throw error("not have elements that share memory", "windows that overlap");
}

}  // namespace forerun
