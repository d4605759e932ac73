// Loops of ufuncs over few elements, run during the call without an operation (runtime/submission/at_once.h).
#pragma once
#include <cstdint>
#include <optional>

#include "array/array.h"
#include "cpu/kernels/elementwise/elementwise.h"
#include "cpu/loops/loop.h"
#include "cpu/loops/loop_over.h"
#include "python/dispatch/ufunc_type.h"
#include "python/runtime/submission/at_once.h"

namespace forerun {

inline char* given_room(const Array& to) { return room_at_once(to); }

// Runs the loop over dense operands now, if that is possible; false: it has not run. `to` may be one of the inputs,
// element for element.
inline bool loop_at_once(const Signature& s, const Operand* inputs, int n_in, const Array& to,
                         char* (*room)(const Array&)) {
  char* args[kMaxOperands];
  intptr_t steps[kMaxOperands], n = to.layout.size;
  for (int i = 0; i < n_in; ++i) {
    const Array* in = inputs[i].array;
    const char* from = in ? values_at_once(*in) : reinterpret_cast<const char*>(inputs[i].scalar.bytes);
    if (!from) return false;
    args[i] = const_cast<char*>(from);
    steps[i] = in ? static_cast<intptr_t>(item_size(s.types[i])) : 0;
  }
  if (!(args[n_in] = room(to))) return false;
  steps[n_in] = static_cast<intptr_t>(item_size(s.types[n_in]));
  s.loop.function(args, &n, steps, s.loop.data);
  written_at_once(to);
  return true;
}

inline bool fits_loop_at_once(const Signature& s, int64_t n, int operands) {
  return !s.loop.may_throw && Engine::get().at_once.is_small(n * operands * s.loop.eighths / 8) && may_work_at_once();
}

// As loop_at_once(), for operands of any layout, which are broadcast to the shape of `to`.
inline bool strided_loop_at_once(const char* ufunc, const Signature& s, const Operand* inputs, int n_in,
                                 const Array& to, char* (*room)(const Array&)) {
  if (s.loop.packed || to.layout.size == 0) return false;
  const Dims& shape = to.layout.shape;
  char* args[kMaxOperands];
  std::optional<Dims> steps[kMaxOperands];  // of operands that are broadcast
  const Dims* strides[kMaxOperands];
  for (int i = 0; i < n_in; ++i) {
    const Array* in = inputs[i].array;
    const char* from = in ? values_at_once(*in) : reinterpret_cast<const char*>(inputs[i].scalar.bytes);
    if (!from) return false;
    if (in && in->storage() == to.storage() && !in->same_elements(to) &&
        overlap(in->storage(), in->layout, to.storage(), to.layout))
      return false;
    args[i] = const_cast<char*>(from);
    if (in && in->layout.shape == shape)
      strides[i] = &in->layout.strides;
    else
      strides[i] = &steps[i].emplace(in ? broadcast_to(ufunc, in->layout, shape).strides : Dims(shape.size()));
  }
  if (!(args[n_in] = room(to))) return false;
  strides[n_in] = &to.layout.strides;
  loop_over_all(s.loop, n_in + 1, shape, strides, args);
  written_at_once(to);
  return true;
}

// loop_at_once() into an existing array.
inline bool in_place_at_once(const Signature& s, const Operand* inputs, int n_in, const Array& to) {
  if (to.layout.dtype != s.types[n_in] || !to.layout.contiguous()) return false;
  for (int i = 0; i < n_in; ++i)
    if (inputs[i].array && inputs[i].array->storage() == to.storage() && !inputs[i].array->same_elements(to))
      return false;
  return loop_at_once(s, inputs, n_in, to, given_room);
}

inline char* fresh_room(const Array& made) {
  if (!may_take_at_once(made) || !made.storage()->take()) return nullptr;
  made.storage()->materialized = true;
  return made.storage()->data();
}

}  // namespace forerun
