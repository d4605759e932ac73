#include "python/ops/reduce.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "array/array.h"
#include "base/bfloat16.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/reduce/reduce.h"
#include "cpu/kernels/reduce/reduce_segments.h"
#include "cpu/kernels/scalar.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/dispatch/operator_table.h"
#include "python/dispatch/ufunc_type.h"
#include "python/object/array_arguments.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/create.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/submission/arguments.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

// The loop with dtype t for inputs and outputs.
Loop uniform_loop(UfuncObject* u, DType t) {
  const Signature* s = same_loop(u, t);
  if (!s || s->types[u->nin] != t || u->nin != 2 || u->nout != 1)
    throw Error(ErrorKind::type, std::string(u->name) +
                                     ": must have a loop that combines two values of a dtype into one, got " + name(t));
  return s->loop;
}

Scalar identity_of(UfuncObject* u, DType t) {
  Scalar scalar{};
  PyObject* value = is_inexact(t) ? PyFloat_FromDouble(u->identity) : PyLong_FromDouble(u->identity);
  bool good = value && put_scalar(u->name, value, t, scalar.bytes);
  Py_XDECREF(value);
  if (!good) {  // all bits set, for unsigned integers
    PyErr_Clear();
    std::fill(std::begin(scalar.bytes), std::end(scalar.bytes), 0xff);
  }
  return scalar;
}

// The neutral element in dtype t, if there is one.
std::optional<Scalar> neutral_of(UfuncObject* u, DType t) {
  using Neutral = UfuncFacts::Neutral;
  const Neutral neutral = u->facts.neutral;
  Scalar scalar{};
  auto put = [&](auto value) {
    std::memcpy(scalar.bytes, &value, sizeof value);
    return scalar;
  };
  auto real = [&](double value, uint16_t half) {
    switch (t) {
      case DType::f16: return put(half);
      case DType::bf16: return put(Bfloat16(static_cast<float>(value)));
      case DType::f32: return put(static_cast<float>(value));
      default: return put(value);
    }
  };
  if (neutral == Neutral::zero) return scalar;
  if (neutral == Neutral::none || is_complex(t)) return std::nullopt;
  if (neutral == Neutral::one && is_inexact(t)) return real(1, 0x3c00);
  if (neutral == Neutral::one) return scalar.bytes[0] = 1, scalar;
  const bool lowest = neutral == Neutral::lowest;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_inexact(t)) return real(lowest ? -kInfinity : kInfinity, lowest ? 0xfc00 : 0x7c00);
  // Integers: all bits equal, except the sign.
  const bool ones = !lowest, sign = is_signed(t);
  std::memset(scalar.bytes, t == DType::b1 ? ones : ones ? 0xff : 0, item_size(t));
  if (sign) scalar.bytes[item_size(t) - 1] ^= 0x80;
  return scalar;
}

// The dtype in which a reduction of elements of t is computed: a running sum of bfloat16 would stop growing at 256.
DType accumulator(UfuncObject* u, DType t) {
  const DType wide = u->facts.accumulate_in;
  return u->facts.accumulates && is_real_float(t) && item_size(t) < item_size(wide) ? wide : t;
}

}  // namespace

namespace {

// The same for an array whose axes are in another order in memory, which the result's axes have, too.
Array reduced_in(const AxisOrder& order, UfuncObject* u, const char* label, const Array& in, const bool* axes, DType t,
                 bool keepdims) {
  bool transposed[kMaxDims] = {};
  for (int i = 0; i < in.layout.ndim(); ++i) transposed[order.place(i)] = axes[i];
  Array out = reduced(u, label, Array(in.storage(), order.transposed(in.layout)), transposed, t, true);
  out.layout = order.restored(out.layout);
  if (keepdims) return out;
  Layout kept = Layout::dense(t, {});
  for (int i = 0; i < in.layout.ndim(); ++i)
    if (!axes[i]) kept.shape.push_back(out.layout.shape[i]), kept.strides.push_back(out.layout.strides[i]);
  kept.size = out.layout.size;
  return Array(out.storage(), std::move(kept));
}

}  // namespace

Array reduced(UfuncObject* u, const char* label, const Array& in, const bool* axes, DType t, bool keepdims) {
  if (in.layout.ndim() > 2)
    if (const std::optional<AxisOrder> order = order_of(in)) return reduced_in(*order, u, label, in, axes, t, keepdims);
  if (DType wide = accumulator(u, t); wide != t)
    return copied(reduced(u, label, in, axes, wide, keepdims), t, device_of(in));
  Loop loop = uniform_loop(u, t);
  int n = in.layout.ndim();
  std::optional<Scalar> neutral = neutral_of(u, t);
  if (neutral && in.layout.size > 0 && in.layout.contiguous()) {
    // Axes that are not adjacent: the last ones first, so that each step can be part of a group.
    auto counts = [&](int i) { return axes[i] && in.layout.shape[i] > 1; };
    int last = n - 1;
    while (last >= 0 && !counts(last)) --last;
    int first = last;
    while (first > 0 && (axes[first - 1] || in.layout.shape[first - 1] == 1)) --first;
    bool more = false;
    for (int i = 0; i < first; ++i) more = more || counts(i);
    if (more) {
      bool inner[kMaxDims] = {};
      for (int i = first; i <= last; ++i) inner[i] = axes[i];
      return reduced(u, label, reduced(u, label, in, inner, t, true), axes, t, keepdims);
    }
  }
  int64_t kept[kMaxDims], shown[kMaxDims];
  int n_kept = 0, n_shown = 0;
  bool empty = false;
  for (int i = 0; i < n; ++i) {
    if (!axes[i])
      kept[n_kept++] = shown[n_shown++] = in.layout.shape[i];
    else if (keepdims)
      shown[n_shown++] = 1;
    empty = empty || (axes[i] && in.layout.shape[i] == 0);
  }
  Array out = Array::make(t, Dims(kept, n_kept), budget_of(device_of(in)));
  if (empty && !u->has_identity && out.layout.size > 0)
    throw Error(ErrorKind::value,
                std::string(label) + ": reduced axes must not be empty, got shape " + to_string(in.layout.shape));
  // As in NumPy, sums start from 0 and products from 1: for complex numbers that makes a visible difference.
  const bool starts = u->has_identity && (empty || u->facts.neutral == UfuncFacts::Neutral::zero ||
                                          u->facts.neutral == UfuncFacts::Neutral::one);
  Scalar identity = starts ? identity_of(u, t) : Scalar{};
  Building building;
  build_reduce(*building, {u->name, label, loop}, in, axes, starts ? &identity : nullptr, neutral ? &*neutral : nullptr,
               out);
  building.issue(device_of(in));
  if (!keepdims) return out;
  return Array(out.storage(), Layout::dense(t, Dims(shown, n_shown)));
}

namespace {

nb::object reduce(nb::handle op, nb::handle a, nb::handle axes_object, nb::handle dtype, bool keepdims,
                  const char* name) {
  UfuncObject* u = get_ufunc("reduce", op.ptr());
  const char* label = *name ? intern(name) : u->name;
  const Array& in = arg(label, a);
  DType t = dtype.is_none() ? in.layout.dtype : parse_dtype(label, dtype.ptr());
  bool axes[kMaxDims] = {};
  for (int64_t axis : parse_dims(label, axes_object.ptr())) {
    int i = normal_axis(label, axis, in.layout.ndim());
    if (axes[i])
      throw Error(ErrorKind::value,
                  std::string(label) + ": axes must be different, got " + std::to_string(i) + " twice");
    axes[i] = true;
  }
  return wrapped_result(reduced(u, label, in, axes, t, keepdims));
}

}  // namespace

Array sum_to(const Array& array, const Dims& shape) {
  const Dims& from = array.layout.shape;
  int lead = from.size() - shape.size(), n = 0;
  int64_t kept[kMaxDims];
  bool reduced[kMaxDims], fits = lead >= 0;
  for (int i = 0; fits && i < from.size(); ++i) {
    reduced[i] = i < lead || (shape[i - lead] == 1 && from[i] != 1);
    fits = reduced[i] || from[i] == shape[i - lead];
    if (!reduced[i]) kept[n++] = from[i];
  }
  if (!fits)
    throw Error(ErrorKind::value, "backward: gradient must have a shape that " + to_string(shape) +
                                      " broadcasts to, got " + to_string(from));
  auto* add = get_ufunc("sum", operator_ufunc(Operator::add));
  DType t = accumulator(add, array.layout.dtype);
  Array out = Array::make(t, Dims(kept, n), budget_of(device_of(array)));
  Scalar zero{};
  Building building;
  std::optional<Scalar> neutral = neutral_of(add, t);
  build_reduce(*building, {add->name, "sum", uniform_loop(add, t)}, array, reduced, array.layout.size ? nullptr : &zero,
               neutral ? &*neutral : nullptr, out);
  building.issue(device_of(array));
  Array total(out.storage(), Layout::dense(t, shape));
  return t == array.layout.dtype ? total : copied(total, array.layout.dtype, device_of(array));
}

Array scanned(UfuncObject* u, const char* label, const Array& in, int axis, DType t) {
  if (const std::optional<AxisOrder> order = order_of(in)) {
    Array out = scanned(u, label, Array(in.storage(), order->transposed(in.layout)), order->place(axis), t);
    out.layout = order->restored(out.layout);
    return out;
  }
  Array out = Array::make(t, in.layout.shape, budget_of(device_of(in)));
  Building building;
  build_scan(*building, {u->name, label, uniform_loop(u, t)}, in, axis, out);
  building.issue(device_of(in));
  return out;
}

Array segments_reduced(UfuncObject* u, const char* label, const Array& in, const Array& starts, int axis) {
  const int device = device_of(in);
  Dims shape = in.layout.shape;
  shape[axis] = starts.layout.size;
  Array out = Array::make(in.layout.dtype, shape, budget_of(device));
  Building building;
  build_reduce_segments(*building, {u->name, label, uniform_loop(u, in.layout.dtype)}, in,
                        starts.layout.dtype == DType::i64 ? starts : copied(starts, DType::i64, device), axis, out);
  building.issue(device);
  return out;
}

namespace {

nb::object scan(nb::handle op, nb::handle a, int64_t axis, nb::handle dtype, const char* name) {
  UfuncObject* u = get_ufunc("scan", op.ptr());
  const char* label = *name ? intern(name) : u->name;
  const Array& in = arg(label, a);
  DType t = dtype.is_none() ? in.layout.dtype : parse_dtype(label, dtype.ptr());
  return wrapped(scanned(u, label, in, normal_axis(label, axis, in.layout.ndim()), t));
}

nb::object reduceat(nb::handle op, nb::handle a, nb::handle starts, int64_t axis, const char* name) {
  UfuncObject* u = get_ufunc("reduceat", op.ptr());
  const char* label = *name ? intern(name) : u->name;
  const Array &in = arg(label, a), &given = arg(label, starts);
  return wrapped(segments_reduced(u, label, in, given, normal_axis(label, axis, in.layout.ndim())));
}

}  // namespace

void init_reduce(Module& m) {
  m.def("reduce", reduce, nb::arg("op"), nb::arg("a"), nb::arg("axes"), nb::arg("dtype").none() = nb::none(),
        nb::arg("keepdims") = false, nb::arg("name") = "");
  m.def("sum_to", [](nb::handle a, nb::handle shape) {
    return wrapped(sum_to(arg("sum_to", a), parse_dims("sum_to", shape.ptr())));
  });
  m.def("reduceat", reduceat, nb::arg("op"), nb::arg("a"), nb::arg("indices"), nb::arg("axis") = 0,
        nb::arg("name") = "");
  m.def("scan", scan, nb::arg("op"), nb::arg("a"), nb::arg("axis"), nb::arg("dtype").none() = nb::none(),
        nb::arg("name") = "");
}

}  // namespace forerun
