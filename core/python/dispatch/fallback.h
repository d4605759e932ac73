// Functions that are called where a function or an op has refused its arguments.
#pragma once
#include <nanobind/nanobind.h>

#include <initializer_list>

#include "python/bindings.h"

namespace forerun {

// A callable that passes its arguments on to a function, and those that the function refuses (with an exception of a
// kind that tells of arguments) to another one. It costs a few nanoseconds where nothing is refused. As an attribute of
// a class it is a method. A third function, NumPy's, if there is one, is called instead where arguments are NumPy's, as
// below.
PyTypeObject* make_fallback_type();

// The positional arguments of a call, and those that it names, as a tuple and a dict; null with an exception set.
PyObject* positional_arguments(PyObject* const* args, Py_ssize_t n);
PyObject* named_arguments(PyObject* const* args, Py_ssize_t n, PyObject* kwnames);

// Whether there are arrays among the arguments, and all of them are NumPy's, of numbers, with few elements.
bool are_numpy_arrays(PyObject* const* args, Py_ssize_t n);

// An op has refused its operands, and the exception is set: what the fallback of all ops makes of that, if there is one
// and it can, else null and the exception as it was. `out`, `dtype` may be null or None.
PyObject* call_fallback(PyObject* op, PyObject* const* inputs, Py_ssize_t n, PyObject* out, PyObject* dtype);

// The same for operators and indices, by the name of the function for them. Where no exception is set, as Python has
// yet to ask the other operand, the result is NotImplemented in place of null.
PyObject* syntax_fallback(const char* name, std::initializer_list<PyObject*> operands, PyObject* out = nullptr);

}  // namespace forerun
