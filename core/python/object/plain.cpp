#include "python/object/plain.h"

namespace forerun {

bool plain_axis(PyObject* o, int ndim, int* axis) {
  if (!plain_int(o)) return false;
  long i = PyLong_AsLong(o);
  if (i == -1 && PyErr_Occurred()) return PyErr_Clear(), false;
  if (i < -ndim || i >= ndim) return false;
  *axis = static_cast<int>(i < 0 ? i + ndim : i);
  return true;
}

}  // namespace forerun
