// The classes of arrays and scalars that programs and libraries see while NumPy is replaced.
#pragma once
#include <Python.h>

namespace forerun {

// The attribute `__class__`, which isinstance reads: that of NumPy's counterpart while NumPy is replaced.
PyObject* get_class(PyObject* self, void*);

}  // namespace forerun
