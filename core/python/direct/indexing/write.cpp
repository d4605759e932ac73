// Plain calls that write into arrays, and methods of element-wise ops.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/loops/item.h"
#include "python/bindings.h"
#include "python/direct/creation/numbers.h"
#include "python/direct/function_type.h"
#include "python/direct/indexing/index.h"
#include "python/direct/indexing/positions.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/dispatch/ufunc_type.h"
#include "python/numpy_api.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/views/views.h"
#include "python/ops/index.h"
#include "python/ops/reduce.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

namespace {

// array[...] = value. Null without an exception set: not a plain assignment.
PyObject* assigned(PyObject* array, PyObject* value) {
  if (!plain_array(array)) return nullptr;
  int done = assign_directly(array, Py_Ellipsis, value);
  return done > 0 ? Py_NewRef(Py_None) : done < 0 ? throw PythonError{} : nullptr;
}

// x.fill(2.0)
PyObject* fill(const DirectCall& call) {
  return call.n == 2 && !call.kwnames && plain_number(call.args[1]) ? assigned(call.args[0], call.args[1]) : nullptr;
}

// Copies an array of the same dtype, or a number that fits it.
PyObject* copyto(const DirectCall& call) {
  const Array* to = call.n == 2 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  const Array* from = to ? plain_array(call.args[1]) : nullptr;
  if (!to || !(from ? from->layout.dtype == to->layout.dtype
                    : PyFloat_CheckExact(call.args[1]) && is_inexact(to->layout.dtype)))
    return nullptr;
  return assigned(call.args[0], call.args[1]);
}

// The elements of a vector or of a dense array, in order. No storage: the array has another layout.
Array flat(const Array& a) {
  if (a.layout.ndim() == 1) return a;
  return a.layout.contiguous() ? reshaped(a, Dims{a.layout.size}) : Array();
}

// The elements of an array that is written. No storage: not plain.
Array written(PyObject* o) {
  const Array* a = plain_array(o);
  return a && a->layout.ndim() > 0 && a->layout.size > 0 && a->writable() ? flat(*a) : Array();
}

// Values that are written into a vector one after the other: an array of its dtype, a number that fits it, or a list of
// such numbers. No storage: not plain.
Array values_for(const Array& to, PyObject* o) {
  const int device = device_of(to);
  if (const Array* a = plain_values(o)) {
    const bool good = a->layout.dtype == to.layout.dtype && a->layout.size > 0 && as_array(o)->device == device;
    return good && a->storage() != to.storage() ? flat(*a) : Array();
  }
  return is_list(o) ? listed_numbers(o, to.layout.dtype, device)
                    : numbers_at_once(&o, Dims{1}, to.layout.dtype, device);
}

// Positions in a vector of n elements: an int, or a list or array of them. No storage: not plain.
Array positions_in(const Array& to, PyObject* o) {
  const int device = device_of(to);
  if (PyList_CheckExact(o)) return listed_positions(o, to.layout.size, device);
  if (plain_int(o)) return numbers_at_once(&o, Dims{1}, DType::i64, device);
  Array made;
  if (PyArray_CheckExact(o)) made = known_positions(o, to.layout.size, device);
  const Array* plain = plain_array(o);
  if (plain && as_array(o)->device == device) made = *plain;
  return made.storage() && made.layout.dtype == DType::i64 ? flat(made) : Array();
}

// put(a, positions, values)
PyObject* put(const DirectCall& call) {
  const Array to = call.n == 3 && !call.kwnames ? written(call.args[0]) : Array();
  const Array at = to.storage() ? positions_in(to, call.args[1]) : Array();
  const Array from = at.storage() ? values_for(to, call.args[2]) : Array();
  return from.storage() && put_at(to, at, from, nullptr) ? Py_NewRef(Py_None) : nullptr;
}

// putmask(a, mask, values), where the element under the mask takes the value at its own position; or place(), where it
// takes the next one. The mask has the array's shape, and few elements. Values are repeated if there are fewer.
template <bool next>
PyObject* put_where(const DirectCall& call) {
  const Array to = call.n == 3 && !call.kwnames ? written(call.args[0]) : Array();
  const Array* mask = to.storage() ? plain_array(call.args[1]) : nullptr;
  if (!mask || to.layout.size > kMostSelected || mask->layout.dtype != DType::b1 || !mask->layout.contiguous() ||
      !(mask->layout.shape == as_array(call.args[0])->array.layout.shape) || device_of(*mask) != device_of(to) ||
      mask->storage() == to.storage() || !may_work_at_once())
    return nullptr;
  const Array from = values_for(to, call.args[2]);
  const char *hit = values_at_once(*mask), *values = hit && from.storage() ? values_at_once(from) : nullptr;
  char* room = values ? room_at_once(to) : nullptr;
  if (!room) return nullptr;
  const int64_t step = to.layout.strides[0], by = from.layout.strides[0], n = from.layout.size;
  with_item(item_size(to.layout.dtype), [&]<class T>(T) {
    for (int64_t i = 0, k = 0; i < to.layout.size; ++i) {
      if (hit[i]) std::memcpy(room + i * step, values + k * by, sizeof(T));
      if (!next || hit[i]) k = k + 1 < n ? k + 1 : 0;
    }
  });
  written_at_once(to);
  return Py_NewRef(Py_None);
}

// Writes one number to the main diagonal of a matrix.
PyObject* fill_diagonal(const DirectCall& call) {
  const Array* a = call.n == 2 && !call.kwnames && plain_number(call.args[1]) ? plain_array(call.args[0]) : nullptr;
  if (!a || a->layout.ndim() != 2 || a->layout.size == 0 || !a->layout.contiguous()) return nullptr;
  if (PyFloat_CheckExact(call.args[1]) ? !is_inexact(a->layout.dtype)
                                       : a->layout.dtype != DType::i64 && a->layout.dtype != DType::f64)
    return nullptr;
  Layout to = a->layout;
  to.size = std::min(to.shape[0], to.shape[1]);
  to.strides = Dims{a->layout.strides[0] + a->layout.strides[1]};
  to.shape = Dims{to.size};
  nb::object view = wrapped(Array(a->storage(), std::move(to)));
  return assigned(view.ptr(), call.args[1]);
}

bool is_bitwise(Formula f) {
  return f == Formula::bitwise_and || f == Formula::bitwise_or || f == Formula::bitwise_xor;
}

// Whether a method of an op combines elements of dtype t in this dtype.
bool combines(const UfuncObject& u, DType t) {
  using Neutral = UfuncFacts::Neutral;
  const Signature* s = u.same[static_cast<int>(t)];
  if (!u.facts.reduction || !s || s->types[2] != t || t == DType::bf16) return false;
  const bool sums =
      (u.facts.neutral == Neutral::zero || u.facts.neutral == Neutral::one) && !is_bitwise(u.facts.formula);
  return !sums || t == DType::f32 || t == DType::f64 || t == DType::i64 || is_complex(t);  // others get wider
}

// The vector on which a method of the op in the first argument is called. Null: not plain.
const Array* operand_of_method(const DirectCall& call) {
  const Array* a = call.n == 2 && !call.kwnames ? plain_array(call.args[1]) : nullptr;
  return a && a->layout.size > 0 && a->layout.ndim() == 1 &&
                 combines(*get_ufunc("reduce", call.args[0]), a->layout.dtype)
             ? a
             : nullptr;
}

// op.reduce(x), op.reduce(x, axis): the result of this op's reduction function.
PyObject* ufunc_reduce(const DirectCall& call) {
  static constexpr const char* names[] = {"op", "array", "axis"};
  PyObject* v[3];
  const Array* a = call.arrange(names, v) ? plain_array(v[1]) : nullptr;
  int axis = 0;
  if (!a || a->layout.size == 0 || a->layout.ndim() == 0 || (v[2] && !plain_axis(v[2], a->layout.ndim(), &axis)))
    return nullptr;
  UfuncObject* u = get_ufunc("reduce", v[0]);
  if (!combines(*u, a->layout.dtype)) return nullptr;
  bool axes[kMaxDims] = {};
  axes[axis] = true;
  return wrap_result(reduced(u, u->facts.reduction, *a, axes, a->layout.dtype, false));
}

PyObject* ufunc_accumulate(const DirectCall& call) {
  const Array* a = operand_of_method(call);
  if (!a) return nullptr;
  UfuncObject* u = get_ufunc("accumulate", call.args[0]);
  return wrap(scanned(u, u->facts.scan ? u->facts.scan : u->name, *a, 0, a->layout.dtype));
}

// op.reduceat(x, starts) of vectors.
PyObject* ufunc_reduceat(const DirectCall& call) {
  const Array* starts = call.n == 3 && !call.kwnames ? plain_array(call.args[2]) : nullptr;
  if (!starts || starts->layout.ndim() != 1 || starts->layout.dtype != DType::i64) return nullptr;
  const Array* a = operand_of_method({.args = call.args, .n = 2});
  if (!a) return nullptr;
  UfuncObject* u = get_ufunc("reduceat", call.args[0]);
  return wrap(segments_reduced(u, intern((std::string(u->name) + ".reduceat").c_str()), *a, *starts, 0));
}

// op.at(x, positions, values), for values of x's dtype, in which the op computes.
PyObject* ufunc_at(const DirectCall& call) {
  const Array* x = call.n == 4 && !call.kwnames ? plain_array(call.args[1]) : nullptr;
  UfuncObject* u = x ? get_ufunc("at", call.args[0]) : nullptr;
  const Signature* s = u && u->nin == 2 && u->nout == 1 ? u->same[static_cast<int>(x->layout.dtype)] : nullptr;
  if (!s || s->types[2] != x->layout.dtype) return nullptr;
  return combine_directly(call.args[1], call.args[2], call.args[3], combined(u, *s, x->layout.dtype))
             ? Py_NewRef(Py_None)
             : nullptr;
}

}  // namespace

void add_direct_writes() {
  add_direct("fill", fill);
  add_direct("copyto", copyto);
  add_direct("put", put);
  add_direct("putmask", put_where<false>);
  add_direct("place", put_where<true>);
  add_direct("fill_diagonal", fill_diagonal);
  add_direct("ufunc_reduce", ufunc_reduce);
  add_direct("ufunc_accumulate", ufunc_accumulate);
  add_direct("ufunc_reduceat", ufunc_reduceat);
  add_direct("ufunc_at", ufunc_at);
}

}  // namespace forerun
