// Python functions that are recorded as one op.
#pragma once
#include <Python.h>

namespace forerun {

// Primitive(forward, name, parameters, defaults, arrays, grads, save, kept): calls a Python function; the operations
// inside are not recorded, only the call is. The first `arrays` parameters are inputs, the others attributes. With
// `kept`, the function returns a tuple of the result and so many values that are used by the gradients alone:
// attributes, too, after the others.
struct PrimitiveObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *forward, *name, *parameters, *defaults,
      *grads;  // the first three and the last: as given, never null once initialised
  Py_ssize_t arrays, kept;
  unsigned save;
};
extern PyTypeObject* primitive_type;
PyTypeObject* make_primitive_type();

}  // namespace forerun
