// Ops whose gradients are functions of what they name: element-wise ones, and Python functions that count as one op.
#pragma once
#include "python/autograd/node.h"

namespace forerun {

// Where an argument of a gradient function comes from: below kAttribute, the input of that number; below kGradient, the
// attribute.
enum Source : unsigned char { kAttribute = 64, kGradient = 128, kOutput, kNumber, kInputs, kShape, kDType };

// Calls the gradient of input i. `grads`: per input a tuple (function, bytes of Sources), or None. `g`, `y`: gradient
// and value of the output, or tuples of them. Null with an exception set; NotImplementedError if there is no such
// gradient.
PyObject* call_gradient(const char* op, PyObject* grads, Py_ssize_t i, PyObject* g, PyObject* y, PyObject* inputs,
                        PyObject* attrs);

// The sum of an array's parts that broadcasting made of an array of this shape. Error if it did not.
Array sum_to(const Array& array, const Dims& shape);

// Primitive(forward, name, parameters, defaults, arrays, grads, save, kept): calls a Python function; what it is made
// of is not recorded: the call is. The first `arrays` parameters are inputs, the others attributes. With `kept`, the
// function returns a tuple of the result and so many values that are for the gradients alone: attributes, too, after
// the others.
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
