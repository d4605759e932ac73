// Shorthand for the functions that nanobind exports.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

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

// An op being built: given back if building it fails, issued otherwise.
class Building {
 public:
  ~Building() {
    if (op_) Engine::get().discard(op_);
  }
  Op& operator*() { return *op_; }
  void issue(int device, Queue::Kind kind = Queue::Kind::compute, bool cheap = false) {
    forerun::issue(std::exchange(op_, nullptr), device, kind, cheap);
  }

 private:
  Op* op_ = Engine::get().make_op();
};

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
void set_promotions(
    nb::handle table);  // how dtypes are promoted: per dtype a row of the numbers that it gives with each
int device_index(const char* op, nb::handle device);  // a Device object, an int, or None (the first device)
// What operands of one op share; Error if they do not.
inline int same_device(const char* op, const Array& a, const Array& b) {
  if (device_of(a) != device_of(b))
    throw Error(ErrorKind::value, std::string(op) + ": arrays must be on one device, got cpu(" +
                                      std::to_string(device_of(a)) + ") and cpu(" + std::to_string(device_of(b)) + ")");
  return device_of(a);
}
Array unwritten(
    Array made);  // a new array, whose memory counts as written once it is there, with whatever stands in it
Array copied(const Array& from, DType t, int device);  // a new dense array of dtype t on a device
inline Array dense(const Array& a) { return a.layout.contiguous() ? a : copied(a, a.layout.dtype, device_of(a)); }
// Windows and recurrent layers have kernels for two dtypes.
inline void check_has_kernels(const char* op, DType t) {
  if (t != DType::f32 && t != DType::f64)
    throw Error(ErrorKind::type, std::string(op) + ": operands must be of float32 or float64, got " + name(t));
}
int normal_axis(const char* op, int64_t axis, int ndim);
const char* intern(const char* name);       // never freed
const char* intern_some(const char* name);  // the same for names of the program's own: not of endlessly many

}  // namespace forerun
