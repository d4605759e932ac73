// NumPy's C API, imported once for all files of python/.
#pragma once
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL forerun_array_api
#define PY_UFUNC_UNIQUE_SYMBOL forerun_ufunc_api
#ifndef FORERUN_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

namespace forerun {

// Whether it is an array of a class derived from NumPy's.
inline bool is_derived(PyObject* o) { return PyArray_Check(o) && !PyArray_CheckExact(o); }

}  // namespace forerun
