#include "python/runtime/submission/arguments.h"

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "base/error.h"
#include "base/shape.h"
#include "cpu/loops/loop.h"
#include "python/bindings.h"
#include "python/runtime/errors/errors.h"

namespace forerun {

namespace {

// -1 with an exception set: it is not an integer. A bool, which Python accepts as one, is mostly meant for another
// argument.
int64_t extent_of(const char* op, PyObject* o) {
  if (PyBool_Check(o))
    throw Error(ErrorKind::type,
                std::string(op) + ": extents and axes must be integers, got " + (o == Py_True ? "True" : "False"));
  return PyNumber_AsSsize_t(o, PyExc_OverflowError);
}

}  // namespace

Dims parse_dims(const char* op, PyObject* o) {
  if (PyIndex_Check(o)) {
    int64_t n = extent_of(op, o);
    if (n != -1 || !PyErr_Occurred()) return Dims{n};
    const bool sequence = PyErr_ExceptionMatches(PyExc_TypeError) && PySequence_Check(o);  // an array of extents
    if (!sequence) throw PythonError{};
    PyErr_Clear();
  }
  const nb::object items = nb::steal(PySequence_Fast(o, "shape must be an int or a sequence of ints"));
  if (!items) throw PythonError{};
  int n = static_cast<int>(PySequence_Fast_GET_SIZE(items.ptr()));
  Dims dims(n);
  bool good = true;
  for (int i = 0; i < n && good; ++i) {
    dims[i] = extent_of(op, PySequence_Fast_GET_ITEM(items.ptr(), i));
    good = !(dims[i] == -1 && PyErr_Occurred());
  }
  if (!good) throw PythonError{};
  if (n > kMaxDims)
    throw Error(ErrorKind::value,
                std::string(op) + ": arrays must have at most 64 dimensions, got " + std::to_string(n));
  return dims;
}

int normal_axis(const char* op, int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim)
    throw Error(ErrorKind::index, std::string(op) + ": axis must be in [" + std::to_string(-ndim) + ", " +
                                      std::to_string(ndim) + "), got " + std::to_string(axis));
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

void check_has_kernels(const char* op, DType t) {
  if (t != DType::f32 && t != DType::f64)
    throw Error(ErrorKind::type, std::string(op) + ": operands must be of float32 or float64, got " + name(t));
}

}  // namespace forerun
