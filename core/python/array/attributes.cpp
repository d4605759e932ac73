#include "python/array/attributes.h"

#include <structmember.h>

#include <cstddef>
#include <span>

#include "array/array.h"
#include "python/array/iterators.h"
#include "python/array/numpy_classes.h"
#include "python/autograd/leaf.h"
#include "python/direct/shape.h"
#include "python/front_end.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/scalar.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/interpreter/package_functions.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

namespace {

Py_ssize_t length(PyObject* self) {
  const Layout& layout = as_array(self)->array.layout;
  if (layout.ndim() > 0) return layout.shape[0];
  PyErr_SetString(PyExc_TypeError, numpy_rules ? "len() of unsized object"
                                               : "len: array must have at least one dimension, got shape ()");
  return -1;
}

PyObject* tuple_of(const Dims& dims) {
  PyObject* tuple = PyTuple_New(dims.size());
  for (int i = 0; tuple && i < dims.size(); ++i) PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(dims[i]));
  return tuple;
}

PyObject* get_shape(PyObject* s, void*) { return tuple_of(layout_of(s).shape); }
// The same memory with other extents.
int put_shape(PyObject* s, PyObject* shape, void*) {
  if (!shape || is_scalar(s) || as_array(s)->node) {
    PyErr_SetString(PyExc_AttributeError, "shape: must be set of an array that is neither a scalar nor on the tape");
    return -1;
  }
  PyObject* seen = PyObject_CallMethod(s, "reshape", "O", shape);
  if (!seen) return -1;
  const Array &from = as_array(seen)->array, &to = as_array(s)->array;
  const bool same = from.storage() == to.storage() || to.layout.size == 0;
  if (same)
    as_array(s)->array = Array(from);
  else
    PyErr_Format(PyExc_AttributeError,
                 "shape: must be set without a copy, got %R for an array that is not in one piece", shape);
  Py_DECREF(seen);
  return same ? 0 : -1;
}
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
    {"__class__", exclusive<get_class>, nullptr, "The class of the array.", nullptr},
    {"shape", exclusive<get_shape>, exclusive<put_shape>, "Extents of the axes.", nullptr},
    {"strides", exclusive<get_strides>, nullptr, "Bytes from one element to the next, per axis.", nullptr},
    {"ndim", exclusive<get_ndim>, nullptr, "Number of axes.", nullptr},
    {"size", exclusive<get_size>, nullptr, "Number of elements.", nullptr},
    {"itemsize", exclusive<get_itemsize>, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", exclusive<get_nbytes>, nullptr, "Bytes of all elements.", nullptr},
    {"dtype", exclusive<get_dtype>, nullptr, "Type of the elements, a numpy.dtype.", nullptr},
    {"T", exclusive<get_reversed>, nullptr, "A view with the axes reversed.", nullptr},
    {"flat", exclusive<get_flat>, exclusive<put_flat>,
     "The elements in C order: an iterator that is indexed, and written to, like a vector.", nullptr},
    {"device", exclusive<get_device>, nullptr, "Where the array lives.", nullptr},
    {"ready", exclusive<get_ready>, nullptr, "Whether all issued writes have ended. Does not wait.", nullptr},
    {"grad", exclusive<get_grad>, nullptr, "The gradient of a leaf of the tape, or None.", nullptr},
    {"node", exclusive<get_node>, exclusive<put_node>, "Place on the tape, or None.", nullptr},
    {},
};
PyMemberDef members[] = {
    {"index", T_LONGLONG, offsetof(ArrayObject, index), 0, "Which output of its node the array is."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak), READONLY, nullptr},
    {},
};

#define FN(f) reinterpret_cast<void*>(f)
const PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {Py_mp_length, FN(exclusive<length>)},
    {Py_sq_length, FN(exclusive<length>)},
};
#undef FN

}  // namespace

std::span<const PyType_Slot> attribute_slots() { return slots; }

}  // namespace forerun
