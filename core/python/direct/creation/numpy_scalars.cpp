#include "python/direct/creation/numpy_scalars.h"

#include <algorithm>

#include "array/array.h"
#include "python/bindings.h"
#include "python/direct/creation/creation_arguments.h"
#include "python/direct/creation/numbers.h"
#include "python/numpy_api.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/plain.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

namespace {

bool is_numpy_number(PyObject* o) { return PyArray_IsScalar(o, Number) || PyArray_IsScalar(o, Bool); }

bool is_python_number(PyObject* o) {
  return PyLong_CheckExact(o) || PyFloat_CheckExact(o) || PyBool_Check(o) || PyComplex_CheckExact(o);
}

}  // namespace

bool converts(PyObject* o, DType t) {
  if (PyBool_Check(o) || PyLong_CheckExact(o)) return t != DType::f16 && t != DType::bf16 && t != DType::c64;
  if (PyFloat_Check(o)) return t == DType::f32 ? fits_float(PyFloat_AS_DOUBLE(o)) : t == DType::f64 || t == DType::c128;
  if (PyComplex_Check(o)) return t == DType::c128;
  const nb::object from = nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(o)));
  return from && t != DType::bf16 &&
         PyArray_CanCastSafely(reinterpret_cast<PyArray_Descr*>(from.ptr())->type_num, typenum_of(t));
}

PyObject* array_of_scalars(PyObject* numbers, const std::vector<PyObject*>& leaves, PyObject* dtype) {
  DType t;
  const bool any = absent(dtype), one = !is_list(numbers);
  if (ints_become_floats || !may_work_at_once() || !plain_dtype(dtype, &t)) return nullptr;
  const bool plain = std::all_of(leaves.begin(), leaves.end(), [&](PyObject* o) {
    return (is_python_number(o) || is_numpy_number(o)) && (any || converts(o, t));
  });
  if (!plain) return nullptr;
  const nb::object made =
      nb::steal(PyArray_FromAny(numbers, any ? nullptr : PyArray_DescrFromType(typenum_of(t)), 0, 0, 0, nullptr));
  if (!made) return PyErr_Clear(), nullptr;  // the Python function reports the value that does not fit
  auto* from = reinterpret_cast<PyArrayObject*>(made.ptr());
  bool known;
  t = dtype_of_typenum(PyArray_TYPE(from), &known);
  if (!known || typenum_of(t) != PyArray_TYPE(from)) return nullptr;
  // Python's floats, and all numbers in lists, get the default precision.
  const bool defaults = any && !(one && is_numpy_number(numbers)) && (t == DType::f64 || t == DType::c128);
  if (defaults && default_float != DType::f64) return nullptr;
  Array array = made_at_once(t, shape_of(from), here());
  if (!array.storage()) return nullptr;
  if (!copy_elements(from, array)) throw PythonError{};
  written_at_once(array);
  return wrap(std::move(array));
}

}  // namespace forerun
