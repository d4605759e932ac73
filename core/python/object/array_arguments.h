// Arrays as arguments and results of the functions that nanobind exports.
#pragma once
#include <utility>
#include <vector>

#include "array/array.h"
#include "python/bindings.h"
#include "python/object/array_object.h"
#include "python/object/scalar.h"

namespace forerun {

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
