// Plain calls of hash, str and format of a scalar with a computed value.
#include "python/object/scalar.h"
#include "array/array.h"
#include "python/direct/function_type.h"
#include "python/object/array_object.h"
#include "python/object/conversion/python_scalars.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"

namespace forerun {

namespace {

// The value as a Python number, for dtypes whose scalars NumPy hashes and formats like that number. Null: it is of
// another dtype, or not computed.
PyObject* python_number(PyObject* o) {
  if (!is_scalar(o)) return nullptr;
  const Array& a = as_array(o)->array;
  const DType t = a.layout.dtype;
  const bool alike = t == DType::f64 || t == DType::i64 || t == DType::b1;
  const char* value = alike ? looked_at_once(a) : nullptr;
  return value ? scalar_at(t, value) : nullptr;
}

PyObject* hash(const DirectCall& call) {
  const nb::object number = nb::steal(call.n == 1 && !call.kwnames ? python_number(call.args[0]) : nullptr);
  PyObject* found = number ? PyLong_FromSsize_t(PyObject_Hash(number.ptr())) : nullptr;
  return found || !number ? found : throw PythonError{};
}

// format(scalar, spec), and str(scalar) without it.
PyObject* text(const DirectCall& call) {
  const bool plain = (call.n == 1 || (call.n == 2 && PyUnicode_Check(call.args[1]))) && !call.kwnames;
  const nb::object number = nb::steal(plain ? python_number(call.args[0]) : nullptr);
  PyObject* found = number ? PyObject_Format(number.ptr(), call.n == 2 ? call.args[1] : nullptr) : nullptr;
  return found || !number ? found : throw PythonError{};
}

}  // namespace

void add_direct_scalars() {
  add_direct("hash", hash);
  add_direct("text", text);
}

}  // namespace forerun
