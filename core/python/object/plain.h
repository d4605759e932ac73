// Arguments of plain calls, which need no conversion.
#pragma once
#include <Python.h>

#include "array/array.h"
#include "python/object/array_object.h"
#include "python/object/node.h"

namespace forerun {

// A forerun array that a plain call accepts: not a subclass, with a value, and not on the tape. Null for other objects.
inline const Array* plain_array(PyObject* o) {
  if (!o || Py_TYPE(o) != array_type) return nullptr;
  const ArrayObject* a = as_array(o);
  return a->array.storage() && !(recording && a->node) ? &a->array : nullptr;
}
// The same, or a scalar: for arguments that are only read.
inline const Array* plain_values(PyObject* o) {
  bool is_plain = o && (Py_TYPE(o) == array_type || is_scalar(o));
  return is_plain && as_array(o)->array.storage() && !(recording && as_array(o)->node) ? &as_array(o)->array : nullptr;
}
inline bool absent(PyObject* o) { return !o || o == Py_None; }
inline bool is_list(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }
inline bool plain_int(PyObject* o) { return o && PyLong_CheckExact(o); }
inline bool plain_number(PyObject* o) { return plain_int(o) || (o && PyFloat_CheckExact(o)); }
// An int, or NumPy's, as an axis of an array. False: it is not an int, or is out of range.
bool plain_axis(PyObject* o, int ndim, int* axis);

}  // namespace forerun
