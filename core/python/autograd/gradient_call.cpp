#include "python/autograd/gradient_call.h"

#include <cstddef>

#include "python/bindings.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/runtime/interpreter/gil.h"

namespace forerun {

namespace {

PyObject* shape_of(PyObject* array) { return PyObject_GetAttrString(array, "shape"); }

// A new reference to an argument of a gradient function.
PyObject* argument(unsigned char source, Py_ssize_t i, PyObject* g, PyObject* y, PyObject* inputs, PyObject* attrs) {
  PyObject* input = PyTuple_GET_ITEM(inputs, i);
  switch (source) {
    case kGradient: return Py_NewRef(g);
    case kOutput: return Py_NewRef(y);
    case kNumber: return PyLong_FromSsize_t(i);
    case kInputs: return Py_NewRef(inputs);
    case kShape: return shape_of(input);
    case kDType: return Py_NewRef(dtype_object(as_array(input)->array.layout.dtype));
    default:
      return Py_NewRef(source < kAttribute ? PyTuple_GET_ITEM(inputs, source)
                                           : PyTuple_GET_ITEM(attrs, source - kAttribute));
  }
}

}  // namespace

PyObject* call_gradient(const char* op, PyObject* grads, Py_ssize_t i, PyObject* g, PyObject* y, PyObject* inputs,
                        PyObject* attrs) {
  PyObject* grad = i < PyTuple_GET_SIZE(grads) ? PyTuple_GET_ITEM(grads, i) : Py_None;
  if (grad == Py_None)
    return PyErr_Format(PyExc_NotImplementedError, "%s: gradient of operand %zd must be defined, got none", op, i);
  PyObject* sources = PyTuple_GET_ITEM(grad, 1);
  constexpr Py_ssize_t kMost = 16;  // stated in primitive() in Python
  PyObject* args[kMost];
  Py_ssize_t n = PyBytes_GET_SIZE(sources), made = 0;
  auto* source = reinterpret_cast<unsigned char*>(PyBytes_AS_STRING(sources));
  while (made < n && (args[made] = argument(source[made], i, g, y, inputs, attrs))) ++made;
  PyObject* result = made == n ? hang_if_finalizing([&] {
    return PyObject_Vectorcall(PyTuple_GET_ITEM(grad, 0), args, static_cast<size_t>(n), nullptr);
  })
                               : nullptr;
  while (made > 0) Py_DECREF(args[--made]);
  return result;
}

}  // namespace forerun
