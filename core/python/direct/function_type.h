// Public functions whose plain calls the core handles itself: it reads the arguments, and runs or issues the operation,
// without a Python frame. All other calls go to the Python function, which has the docstring, the gradient and the
// errors.
#pragma once
#include <Python.h>

#include <cstddef>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "python/autograd/node.h"
#include "python/bindings.h"
#include "python/object/array_type.h"

namespace forerun {

// A call: `n` positional arguments, then those named in `kwnames` (a tuple, or null). `data`: what the function was
// made with.
struct DirectCall {
  PyObject* const* args;
  Py_ssize_t n;
  PyObject* kwnames;
  PyObject* data;

  // The arguments in the order of `names`, null for those not given. False: others were given.
  template <size_t count>
  bool arrange(const char* const (&names)[count], PyObject* (&values)[count]) const {
    return arrange(names, values, count);
  }

 private:
  bool arrange(const char* const* names, PyObject** values, size_t count) const;
};

// A new reference; null without an exception set: the call is not plain, and nothing has happened.
using DirectEntry = PyObject* (*)(const DirectCall&);
void add_direct(const char* name, DirectEntry entry);

// A forerun array, as a plain call takes it: no subclass, with a value, and not on the tape. Null for anything else.
inline const Array* plain_array(PyObject* o) {
  if (!o || Py_TYPE(o) != array_type) return nullptr;
  const ArrayObject* a = as_array(o);
  return a->array.storage() && !(recording && a->node) ? &a->array : nullptr;
}
// The same, or a scalar: what is only read.
inline const Array* plain_values(PyObject* o) {
  bool ours = o && (Py_TYPE(o) == array_type || Py_TYPE(o) == scalar_type);
  return ours && as_array(o)->array.storage() && !(recording && as_array(o)->node) ? &as_array(o)->array : nullptr;
}
inline bool absent(PyObject* o) { return !o || o == Py_None; }
inline bool plain_int(PyObject* o) { return o && PyLong_CheckExact(o); }
// An int, or NumPy's, as an axis of an array. False: it is none, or out of range.
bool plain_axis(PyObject* o, int ndim, int* axis);

PyTypeObject* make_function_type();

}  // namespace forerun
