// Plain calls of copy, ascontiguousarray and astype.
#include "python/direct/creation/convert.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "array/array.h"
#include "cpu/loops/item.h"
#include "cpu/loops/loop.h"
#include "python/direct/creation/creation_arguments.h"
#include "python/direct/function_type.h"
#include "python/object/array_object.h"
#include "python/object/create.h"
#include "python/object/plain.h"
#include "python/runtime/submission/at_once.h"

namespace forerun {

Array converted(const Array& from, DType t, int device) {
  bool small =
      from.layout.contiguous() && from.layout.nbytes() <= static_cast<int64_t>(kFilledAtOnce) && may_work_at_once();
  if (const char* values = small ? values_at_once(from) : nullptr) {
    if (Array made = made_at_once(t, from.layout.shape, device); made.storage()) {
      char* args[] = {const_cast<char*>(values), made.storage()->data()};
      intptr_t n = from.layout.size,
               steps[] = {static_cast<intptr_t>(item_size(from.layout.dtype)), static_cast<intptr_t>(item_size(t))};
      if (t == from.layout.dtype) {
        std::memcpy(args[1], args[0], static_cast<size_t>(from.layout.nbytes()));
      } else {
        Loop loop = cast_loop(from.layout.dtype, t);
        loop.function(args, &n, steps, loop.data);
      }
      written_at_once(made);
      return made;
    }
  }
  return copied(from, t, device);
}

Array of_dtype(const Array& a, DType t) { return a.layout.dtype == t ? a : converted(a, t, device_of(a)); }

PyObject* converted(PyObject* self, DType t) {
  const Array* from = plain_array(self);
  if (!from || (is_complex(from->layout.dtype) && !is_complex(t))) return nullptr;  // which warns
  return wrap(converted(*from, t, as_array(self)->device));
}

namespace {

// A dense copy of a small matrix that lies otherwise. No storage: an operation must make it.
Array turned_at_once(const Array& from) {
  const Layout& l = from.layout;
  const bool few =
      l.ndim() == 2 && l.size > 0 && l.nbytes() <= static_cast<int64_t>(kFilledAtOnce) && may_work_at_once();
  const char* values = few ? values_at_once(from) : nullptr;
  Array made = values ? made_at_once(l.dtype, l.shape, device_of(from)) : Array();
  if (!made.storage()) return made;
  with_item(item_size(l.dtype), [&]<class T>(T) {
    T* to = reinterpret_cast<T*>(made.storage()->data());
    for (int64_t i = 0; i < l.shape[0]; ++i)
      for (int64_t k = 0; k < l.shape[1]; ++k)
        std::memcpy(to++, values + i * l.strides[0] + k * l.strides[1], sizeof(T));
  });
  written_at_once(made);
  return made;
}

PyObject* copy(const DirectCall& call) {
  if (call.n != 1 || call.kwnames) return nullptr;
  const Array* a = plain_array(call.args[0]);
  if (!a) return nullptr;
  if (Array made = a->layout.contiguous() ? Array() : turned_at_once(*a); made.storage()) return wrap(std::move(made));
  return converted(call.args[0], a->layout.dtype);
}

// The array itself if it is dense, else a dense copy.
PyObject* contiguous(const DirectCall& call) {
  const Array* a = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  if (!a || a->layout.ndim() == 0) return nullptr;
  if (a->layout.contiguous()) return Py_NewRef(call.args[0]);
  Array made = turned_at_once(*a);
  return wrap(made.storage() ? std::move(made) : copied(*a, a->layout.dtype, as_array(call.args[0])->device));
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
  add_direct("contiguous", contiguous);
  add_direct("astype", astype);
}

}  // namespace forerun
