// Plain calls of copy, ascontiguousarray and astype.
#include "python/direct/creation/convert.h"

#include "array/array.h"
#include "python/direct/creation/creation_arguments.h"
#include "python/direct/function_type.h"
#include "python/object/array_object.h"
#include "python/object/create.h"
#include "python/object/plain.h"

namespace forerun {

Array of_dtype(const Array& a, DType t) { return a.layout.dtype == t ? a : copied(a, t, device_of(a)); }

PyObject* converted(PyObject* self, DType t) {
  const Array* from = plain_array(self);
  if (!from || (is_complex(from->layout.dtype) && !is_complex(t))) return nullptr;  // where NumPy warns
  return wrap(copied_like(*from, t));
}

namespace {

// The method, which copies in C order.
PyObject* copy(const DirectCall& call) {
  const Array* a = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  return a ? wrap(copied(*a, a->layout.dtype, as_array(call.args[0])->device)) : nullptr;
}

// The function, which keeps the order of axes.
PyObject* copy_of(const DirectCall& call) {
  const Array* a = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  return a ? converted(call.args[0], a->layout.dtype) : nullptr;
}

// The array itself if it is in C order, otherwise a copy that is.
PyObject* contiguous(const DirectCall& call) {
  const Array* a = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  if (!a || a->layout.ndim() == 0) return nullptr;
  if (a->layout.contiguous()) return Py_NewRef(call.args[0]);
  return copy(call);
}

PyObject* astype(const DirectCall& call) {
  static constexpr const char* names[] = {"self", "dtype"};
  PyObject* v[2];
  DType t;
  return call.arrange(names, v) && !absent(v[1]) && plain_dtype(v[1], &t) ? converted(v[0], t) : nullptr;
}

}  // namespace

void add_direct_conversions() {
  add_direct("copy", copy);
  add_direct("copy_of", copy_of);
  add_direct("contiguous", contiguous);
  add_direct("astype", astype);
}

}  // namespace forerun
