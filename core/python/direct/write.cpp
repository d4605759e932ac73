// Plain calls that write into arrays, and methods of element-wise ops.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/item.h"
#include "python/bindings.h"
#include "python/direct/function_type.h"
#include "python/direct/index.h"
#include "python/dispatch/loop_table.h"
#include "python/dispatch/ufunc_type.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/ops/index.h"
#include "python/ops/reduce.h"
#include "python/runtime/at_once.h"
#include "python/runtime/errors.h"

namespace forerun {

namespace {

// array[...] = value. Null without an exception set: not a plain assignment.
PyObject* assigned(PyObject* array, PyObject* value) {
  if (!plain_array(array)) return nullptr;
  int done = assign_directly(array, Py_Ellipsis, value);
  return done > 0 ? Py_NewRef(Py_None) : done < 0 ? throw PythonError{} : nullptr;
}

bool plain_number(PyObject* o) { return plain_int(o) || PyFloat_CheckExact(o); }

// x.fill(2.0)
PyObject* fill(const DirectCall& call) {
  return call.n == 2 && !call.kwnames && plain_number(call.args[1]) ? assigned(call.args[0], call.args[1]) : nullptr;
}

// Into an array of the same dtype, or one number that it takes.
PyObject* copyto(const DirectCall& call) {
  const Array* to = call.n == 2 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  const Array* from = to ? plain_array(call.args[1]) : nullptr;
  if (!to || !(from ? from->layout.dtype == to->layout.dtype
                    : PyFloat_CheckExact(call.args[1]) && is_inexact(to->layout.dtype)))
    return nullptr;
  return assigned(call.args[0], call.args[1]);
}

// Elements of an array of the same shape where a mask of it holds, of few.
PyObject* putmask(const DirectCall& call) {
  constexpr int64_t kMost = 1 << 12;
  const Array *a = call.n == 3 && !call.kwnames ? plain_array(call.args[0]) : nullptr,
              *mask = a ? plain_array(call.args[1]) : nullptr, *from = mask ? plain_array(call.args[2]) : nullptr;
  if (!from || a->layout.size > kMost || mask->layout.dtype != DType::b1 || from->layout.dtype != a->layout.dtype ||
      !a->writable() || !may_work_at_once())
    return nullptr;
  const int device = as_array(call.args[0])->device;
  const auto fits = [&](int i) {
    const Layout& l = as_array(call.args[i])->array.layout;
    return l.shape == a->layout.shape && l.contiguous() && as_array(call.args[i])->device == device;
  };
  if (!fits(0) || !fits(1) || !fits(2) || a->storage() == mask->storage() || a->storage() == from->storage())
    return nullptr;
  const char *hit = values_at_once(*mask), *values = values_at_once(*from);
  char* room = hit && values ? room_at_once(*a) : nullptr;
  if (!room) return nullptr;
  with_item(item_size(a->layout.dtype), [&]<class T>(T) {
    for (int64_t i = 0; i < a->layout.size; ++i)
      if (hit[i])
        std::memcpy(room + i * static_cast<int64_t>(sizeof(T)), values + i * static_cast<int64_t>(sizeof(T)),
                    sizeof(T));
  });
  written_at_once(*a);
  return Py_NewRef(Py_None);
}

// One number on the main diagonal of a matrix.
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

// Whether a method of an op combines elements of dtype t in it.
bool combines(const UfuncFacts& facts, DType t) {
  using Neutral = UfuncFacts::Neutral;
  if (!facts.reduction) return false;
  if (facts.neutral == Neutral::zero || facts.neutral == Neutral::one)
    return t == DType::f32 || t == DType::f64 || t == DType::i64 || is_complex(t);
  return facts.neutral != Neutral::none && t != DType::bf16;
}

// A vector, of which a method of the op in the first argument is called. Null: not plain.
const Array* operand_of_method(const DirectCall& call) {
  const Array* a = call.n == 2 && !call.kwnames ? plain_array(call.args[1]) : nullptr;
  return a && a->layout.size > 0 && a->layout.ndim() == 1 &&
                 combines(get_ufunc("reduce", call.args[0])->facts, a->layout.dtype)
             ? a
             : nullptr;
}

// op.reduce(x) of a vector: what the function of this op gives.
PyObject* ufunc_reduce(const DirectCall& call) {
  const Array* a = operand_of_method(call);
  if (!a) return nullptr;
  UfuncObject* u = get_ufunc("reduce", call.args[0]);
  const bool axes[kMaxDims] = {true};
  return wrap_result(reduced(u, u->facts.reduction, *a, axes, a->layout.dtype, false));
}

PyObject* ufunc_accumulate(const DirectCall& call) {
  const Array* a = operand_of_method(call);
  if (!a) return nullptr;
  UfuncObject* u = get_ufunc("accumulate", call.args[0]);
  return wrap(scanned(u, u->facts.scan ? u->facts.scan : u->name, *a, 0, a->layout.dtype));
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
  add_direct("putmask", putmask);
  add_direct("fill_diagonal", fill_diagonal);
  add_direct("ufunc_reduce", ufunc_reduce);
  add_direct("ufunc_accumulate", ufunc_accumulate);
  add_direct("ufunc_at", ufunc_at);
}

}  // namespace forerun
