// Shorthand for the functions that nanobind exports.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "python/front_end.h"

namespace forerun {

namespace nb = nanobind;

// For the functions of a class: they run in the front end.
using Exclusive = nb::call_guard<InFrontEnd>;

// A module, with functions that run in the front end.
class Module : public nb::module_ {
 public:
  explicit Module(const nb::module_& m) : nb::module_(m) {}
  template <class F, class... Extra>
  Module& def(const char* name, F&& f, const Extra&... extra) {
    nb::module_::def(name, std::forward<F>(f), extra..., Exclusive());
    return *this;
  }
};

// Functions for Python take text as `const char*`, and sequences as handles: nanobind's own conversion to containers
// would end the process if memory is exhausted.
template <class T>
std::vector<T> list_of(nb::handle sequence) {
  std::vector<T> all;
  for (nb::handle item : sequence) all.push_back(nb::cast<T>(item));
  return all;
}

// A new reference as nanobind's object; throws the set exception if it is null.
inline nb::object checked(PyObject* o) {
  if (!o) throw nb::python_error();
  return nb::steal(o);
}

}  // namespace forerun
