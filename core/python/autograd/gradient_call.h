// Calls of the gradient function of an op.
#pragma once
#include <Python.h>

namespace forerun {

// The source of an argument of a gradient function: below kAttribute, the input of that number; below kGradient, the
// attribute.
enum Source : unsigned char { kAttribute = 64, kGradient = 128, kOutput, kNumber, kInputs, kShape, kDType };

// Calls the gradient of input i. `grads`: per input a tuple (function, bytes of Sources), or None. `g`, `y`: gradient
// and value of the output, or tuples of them. Null with an exception set; NotImplementedError if there is no such
// gradient.
PyObject* call_gradient(const char* op, PyObject* grads, Py_ssize_t i, PyObject* g, PyObject* y, PyObject* inputs,
                        PyObject* attrs);

}  // namespace forerun
