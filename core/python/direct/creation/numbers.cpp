#include "python/direct/creation/numbers.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "array/array.h"
#include "engine/devices/memory_budget.h"
#include "python/numpy_api.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/python_scalars.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

bool takes_scalar(DType t, PyObject* value) {
  const auto is = [value](DType kind) { return reinterpret_cast<PyObject*>(Py_TYPE(value)) == scalar_class(kind); };
  if (!PyArray_CheckScalar(value) || t == DType::bf16) return false;
  return is(t) || (t == DType::f64 && (is(DType::i64) || is(DType::f32)));
}

bool takes_number(DType t, PyObject* value) {
  if (PyBool_Check(value) || PyLong_CheckExact(value)) return true;
  if (PyFloat_CheckExact(value)) return is_inexact(t);
  return (PyComplex_CheckExact(value) && is_complex(t)) || takes_scalar(t, value);
}

bool fits_float(double value) { return !(std::abs(value) > std::numeric_limits<float>::max()) || std::isinf(value); }

Array numbers_at_once(PyObject* const* values, const Dims& shape, DType t, int device) {
  Array made = may_work_at_once() ? made_at_once(t, shape, device) : Array();
  if (!made.storage()) return {};
  auto* to = reinterpret_cast<unsigned char*>(made.storage()->data());
  for (int64_t i = 0; i < made.layout.size; ++i, to += item_size(t)) {
    if (!takes_number(t, values[i])) return {};
    if (!put_scalar("assign", values[i], t, to)) return PyErr_Clear(), Array();
  }
  written_at_once(made);
  return made;
}

Array listed_numbers(PyObject* list, DType t, int device) {
  constexpr Py_ssize_t kMost = 64;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  return n > 0 && n <= kMost ? numbers_at_once(PySequence_Fast_ITEMS(list), Dims{n}, t, device) : Array();
}

}  // namespace forerun
