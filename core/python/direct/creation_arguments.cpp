#include "python/direct/creation_arguments.h"

#include <cstdint>

#include "engine/engine.h"
#include "python/numpy_api.h"
#include "python/object/dtypes.h"
#include "python/object/plain.h"
#include "python/runtime/devices.h"

namespace forerun {

bool plain_shape(PyObject* o, Dims* shape) {
  bool tuple = o && PyTuple_CheckExact(o);
  Py_ssize_t n = tuple ? PyTuple_GET_SIZE(o) : 1;
  if (!o || n > Dims::kInline) return false;
  int64_t extents[Dims::kInline], size = 1;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* one = tuple ? PyTuple_GET_ITEM(o, i) : o;
    if (!plain_int(one)) return false;
    int overflow = 0;
    long long extent = PyLong_AsLongLongAndOverflow(one, &overflow);
    if (overflow || extent < 0 || extent > INT32_MAX) return false;
    extents[i] = extent;
    size *= extent > 0 ? extent : 1;
    if (size > INT32_MAX) return false;  // large enough for the Python function, which looks at the memory
  }
  *shape = Dims(extents, static_cast<int>(n));
  return true;
}

bool plain_dtype(PyObject* o, DType* t) {
  if (absent(o) || o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return *t = default_float, true;
  bool known = true;
  if (PyArray_DescrCheck(o)) {
    auto* d = reinterpret_cast<PyArray_Descr*>(o);
    if (!PyArray_ISNBO(d->byteorder)) return false;
    *t = dtype_of_typenum(d->type_num, &known);
    return known;
  }
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return *t = DType::i64, true;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return *t = DType::b1, true;
  if (!PyUnicode_CheckExact(o)) return false;
  for (int i = 0; i < kDTypes; ++i)
    if (static_cast<DType>(i) != DType::bf16 && PyUnicode_CompareWithASCIIString(o, name(static_cast<DType>(i))) == 0)
      return *t = static_cast<DType>(i), true;
  return false;
}

int here() {
  if (default_device >= Engine::get().devices.size()) Engine::get().use_device(default_device);
  return default_device;
}

}  // namespace forerun
