// Shorthand for the functions that nanobind exports.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "array/array.h"
#include "python/object/array_type.h"
#include "python/object/scalar.h"

namespace forerun {

namespace nb = nanobind;

// Functions for Python take text as `const char*`, and sequences as handles: what nanobind converts into containers
// itself would end the process where there is no memory for them.
template <class T>
std::vector<T> list_of(nb::handle sequence) {
  std::vector<T> all;
  for (nb::handle item : sequence) all.push_back(nb::cast<T>(item));
  return all;
}

// A new reference as nanobind's object; the set exception if it is null.
inline nb::object checked(PyObject* o) {
  if (!o) throw nb::python_error();
  return nb::steal(o);
}
inline nb::object wrapped(Array array) { return checked(wrap(std::move(array))); }
inline nb::object wrapped_result(Array array) { return checked(wrap_result(std::move(array))); }
inline nb::object wrapped_like(nb::handle like, Array array) {
  return checked(wrap_like(like.ptr(), std::move(array)));
}
inline const Array& arg(const char* op, nb::handle o) { return get_array(op, o.ptr()); }
inline std::vector<Array> args(const char* op, nb::handle sequence) {
  std::vector<Array> all;
  for (nb::handle o : sequence) all.push_back(arg(op, o));
  return all;
}
}  // namespace forerun
