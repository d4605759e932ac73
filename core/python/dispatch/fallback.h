// Functions that are called when a function or an op has rejected its arguments.
#pragma once
#include <nanobind/nanobind.h>

#include <initializer_list>

#include "python/bindings.h"

namespace forerun {

// A callable that passes its arguments on to a function and, if that function rejects them (with an exception of a kind
// that concerns arguments), to another one. It costs a few nanoseconds if no argument is rejected. As an attribute of a
// class it is a method. An optional third function, NumPy's, is called instead if arguments are NumPy's, as described
// below. With "dtypes" as fourth argument, the other function is called without a try of the first, with None for the
// exception, if an argument has a dtype that only NumPy has, as text; with "classes" also if its class is derived from
// NumPy's array; with "rules" only if such a class has rules for functions; with "views" as with "classes", and the
// function gets arrays on the memory of NumPy's.
PyTypeObject* make_fallback_type();

// The positional arguments of a call, and the keyword arguments, as a tuple and a dict; null with an exception set.
PyObject* positional_arguments(PyObject* const* args, Py_ssize_t n);
PyObject* named_arguments(PyObject* const* args, Py_ssize_t n, PyObject* kwnames);

// Whether there are arrays among the arguments, and all of them are NumPy's, of numbers, with few elements.
bool are_numpy_arrays(PyObject* const* args, Py_ssize_t n);

// The result of NumPy's ufunc for operands of which one is of a class derived from NumPy's array, as the program gets
// it. Takes over the reference; null with an exception set stays null.
PyObject* derived_result(PyObject* ufunc, PyObject* result, double seconds);

// An op has rejected its operands, and the exception is set: returns the result of the fallback of all ops, if there is
// one and it succeeds; otherwise null with the exception unchanged. `out`, `dtype` may be null or None.
PyObject* call_fallback(PyObject* op, PyObject* const* inputs, Py_ssize_t n, PyObject* out, PyObject* dtype);

// The same for operators and indices, by the name of the function for them. If no exception is set, as Python has yet
// to try the other operand, the result is NotImplemented in place of null.
PyObject* syntax_fallback(const char* name, std::initializer_list<PyObject*> operands, PyObject* out = nullptr);

// Whether the class of an array derived from NumPy's has NumPy's own method.
bool has_numpys(PyObject* derived, PyObject* method);

}  // namespace forerun
