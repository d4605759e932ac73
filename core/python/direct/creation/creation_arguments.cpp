#include "python/direct/creation/creation_arguments.h"

#include <cstdint>

#include "engine/engine.h"
#include "python/bindings.h"
#include "python/direct/creation/from_lists.h"
#include "python/numpy_api.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/plain.h"
#include "python/object/scalar.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

bool plain_shape(PyObject* o, Dims* shape) {
  const bool several = o && is_list(o);
  const Py_ssize_t n = several ? PySequence_Fast_GET_SIZE(o) : 1;
  if (!o || n > Dims::kInline) return false;
  int64_t extents[Dims::kInline], size = 1;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* one = several ? PySequence_Fast_GET_ITEM(o, i) : o;
    int64_t extent;
    if (is_scalar(one)) {
      if (!integer_at_once(one, &extent)) return false;
    } else {
      int overflow = 0;
      if (!plain_int(one)) return false;
      if (extent = PyLong_AsLongLongAndOverflow(one, &overflow); overflow) return false;
    }
    if (extent < 0 || extent > INT32_MAX) return false;
    extents[i] = extent;
    size *= extent > 0 ? extent : 1;
    if (size > INT32_MAX) return false;  // so large that the Python function must check the memory
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
  if (PyType_Check(o)) return dtype_of_class(o, t);
  if (!PyUnicode_CheckExact(o)) return false;
  for (int i = 0; i < kDTypes; ++i)
    if (static_cast<DType>(i) != DType::bf16 && PyUnicode_CompareWithASCIIString(o, name(static_cast<DType>(i))) == 0)
      return *t = static_cast<DType>(i), true;
  PyArray_Descr* d = nullptr;  // another name, such as "int" or "f8"
  if (!PyArray_DescrConverter(o, &d)) return PyErr_Clear(), false;
  const bool plain = plain_dtype(reinterpret_cast<PyObject*>(d), t);
  Py_DECREF(d);
  return plain;
}

nb::object number_of_scalar(PyObject* o) {
  const Array* a = o && is_scalar(o) && may_work_at_once() ? plain_values(o) : nullptr;
  if (!a || ints_become_floats) return nb::borrow(o);
  const DType t = a->layout.dtype;
  const char* value = t == DType::i64 || (t == DType::f64 && default_float == t) ? values_at_once(*a) : nullptr;
  return value ? checked(scalar_at(t, value)) : nb::borrow(o);
}

int here() {
  if (default_device >= Engine::get().devices.size()) Engine::get().use_device(default_device);
  return default_device;
}

}  // namespace forerun
