// Iteration over arrays: iter(x), and x.flat.
#pragma once
#include <Python.h>

namespace forerun {

PyTypeObject* make_elements_type();
// The base of x.flat: the Python package derives an iterator from it, with _read and _write for indices that are not
// plain.
PyTypeObject* make_flat_type();
extern PyTypeObject* flat_base;  // the result of make_flat_type()
void set_flat_type(PyTypeObject* type);

// iter(x), as the array type's slot.
PyObject* iterate(PyObject* array);
// x.flat, and x.flat = values.
PyObject* get_flat(PyObject* array, void*);
int put_flat(PyObject* array, PyObject* values, void*);

}  // namespace forerun
