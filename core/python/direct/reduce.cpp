// Plain calls of reductions over one axis or all, of argmax and argmin, and of sorting.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/reduce/count_nonzero.h"
#include "cpu/kernels/sort/sort.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/direct/creation/convert.h"
#include "python/direct/function_type.h"
#include "python/direct/matmul.h"
#include "python/dispatch/operator_table.h"
#include "python/dispatch/ufunc_type.h"
#include "python/numpy_api.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/create.h"
#include "python/object/node.h"
#include "python/object/views/views.h"
#include "python/ops/reduce.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

// The array and its reduced axes: one, or all. Null: not a plain call, or there are no elements to combine.
const Array* reduction(const DirectCall& call, bool* axes, bool* keepdims) {
  static constexpr const char* names[] = {"a", "axis"};
  Py_ssize_t n_kw = call.kwnames ? PyTuple_GET_SIZE(call.kwnames) : 0;
  *keepdims = false;
  PyObject *a = call.n > 0 ? call.args[0] : nullptr, *axis = call.n == 2 ? call.args[1] : nullptr;
  if (call.n < 1 || call.n > 2) return nullptr;
  for (Py_ssize_t k = 0; k < n_kw; ++k) {
    PyObject *key = PyTuple_GET_ITEM(call.kwnames, k), *value = call.args[call.n + k];
    if (PyUnicode_CompareWithASCIIString(key, names[1]) == 0 && !axis)
      axis = value;
    else if (PyUnicode_CompareWithASCIIString(key, "keepdims") == 0 && PyBool_Check(value))
      *keepdims = value == Py_True;
    else
      return nullptr;
  }
  const Array* in = plain_array(a);
  if (!in) return nullptr;
  int n = in->layout.ndim(), one;
  if (absent(axis)) {
    std::fill(axes, axes + n, true);
  } else {
    if (!plain_axis(axis, n, &one)) return nullptr;
    axes[one] = true;
  }
  return in->layout.size > 0 ? in : nullptr;
}

// The dtype in which NumPy adds and multiplies elements of t.
DType sums_in(DType t) {
  if (is_inexact(t)) return t;
  return t == DType::b1 || is_signed(t) ? DType::i64 : DType::u64;
}

// If one of the first computed bools of an array decides `any` (true) or `all` (false): the result, a new array without
// axes; otherwise an empty one.
Array decided_at_once(const Array& in, bool looked_for) {
  constexpr int64_t kLooked = 1 << 12;
  bool plain = in.layout.dtype == DType::b1 && in.layout.size > kLooked && in.layout.contiguous() && !bytes_as_bools &&
               may_work_at_once();
  const char* values = plain ? values_at_once(in) : nullptr;
  if (!values || !std::memchr(values, looked_for, kLooked)) return {};
  Array made = made_at_once(DType::b1, Dims{}, device_of(in));
  if (!made.storage()) return {};
  *made.storage()->data() = looked_for;
  written_at_once(made);
  return made;
}

enum class Kind { total, extreme, truth };

template <Kind kind>
PyObject* reduce(const DirectCall& call) {
  bool axes[kMaxDims] = {}, keepdims;
  const Array* in = reduction(call, axes, &keepdims);
  if (!in) return nullptr;
  UfuncObject* u = get_ufunc("reduce", PyTuple_GET_ITEM(call.data, 0));
  static const char* const labels[] = {intern("sum"), intern("prod"), intern("max"),
                                       intern("min"), intern("all"),  intern("any")};
  const long which = PyLong_AsLong(PyTuple_GET_ITEM(call.data, 1));
  const char* label = labels[which];
  if (kind == Kind::truth && !keepdims && std::all_of(axes, axes + in->layout.ndim(), [](bool b) { return b; }))
    if (Array made = decided_at_once(*in, which == 5); made.storage()) return wrap_result(std::move(made));
  DType t = in->layout.dtype;
  if (kind == Kind::total) t = sums_in(t);
  if (kind == Kind::truth) t = DType::b1;
  return wrap_result(reduced(u, label, *in, axes, t, keepdims));
}

// The mean of floats of 32 and 64 bits: the sum, divided by the number of elements.
PyObject* mean(const DirectCall& call) {
  bool axes[kMaxDims] = {}, keepdims;
  const Array* in = reduction(call, axes, &keepdims);
  if (!in || (in->layout.dtype != DType::f32 && in->layout.dtype != DType::f64)) return nullptr;
  static const char* const label = intern("sum");
  int64_t n = 1;
  for (int i = 0; i < in->layout.ndim(); ++i) n *= axes[i] ? in->layout.shape[i] : 1;
  nb::object total =
      wrapped(reduced(get_ufunc("mean", operator_ufunc(Operator::add)), label, *in, axes, in->layout.dtype, keepdims));
  nb::object count = checked(PyLong_FromLongLong(n));
  PyObject* operands[] = {total.ptr(), count.ptr()};
  return call_operator(Operator::divide, operands, 2, nullptr);
}

// The sum of a diagonal of a matrix.
PyObject* trace(const DirectCall& call) {
  const Array* in = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  if (!in || in->layout.ndim() != 2 || in->layout.size == 0) return nullptr;
  static const char* const label = intern("sum");
  Layout layout = in->layout;
  layout.size = std::min(layout.shape[0], layout.shape[1]);
  layout.strides = Dims{layout.strides[0] + layout.strides[1]};
  layout.shape = Dims{layout.size};
  const bool axes[kMaxDims] = {true};
  DType t = sums_in(layout.dtype);
  return wrap_result(reduced(get_ufunc("sum", operator_ufunc(Operator::add)), label,
                             Array(in->storage(), std::move(layout)), axes, t, false));
}

// Elements of which BLAS sums the squares: in less time than two operations take. With more, the operations share
// groups with those that make the elements.
constexpr int64_t kMostByBlas = int64_t{1} << 18;

// The sum of squares of all elements.
nb::object sum_of_squares(const Array& in) {
  const nb::object vector = wrapped(reshaped(in, Dims{in.layout.size}));
  return checked(matmul_directly(vector.ptr(), vector.ptr()));
}

// The root of the sum of squares, of all elements or along one axis.
PyObject* norm(const DirectCall& call) {
  static constexpr const char* names[] = {"x", "ord", "axis"};
  PyObject* v[3];
  const Array* in = call.arrange(names, v) && absent(v[1]) ? plain_array(v[0]) : nullptr;
  if (!in || in->layout.size == 0 || (in->layout.dtype != DType::f32 && in->layout.dtype != DType::f64)) return nullptr;
  static const char* const label = intern("sum");
  bool axes[kMaxDims] = {};
  int axis;
  if (absent(v[2]))
    std::fill(axes, axes + in->layout.ndim(), true);
  else if (plain_axis(v[2], in->layout.ndim(), &axis))
    axes[axis] = true;
  else
    return nullptr;
  nb::object total;
  if (absent(v[2]) && in->layout.size <= kMostByBlas && in->layout.contiguous() && !on_tape(v[0])) {
    total = sum_of_squares(*in);
  } else {
    nb::object squares = checked(call_operator(Operator::square, &v[0], 1, nullptr));
    total = wrapped_result(reduced(get_ufunc("sum", operator_ufunc(Operator::add)), label, *plain_values(squares.ptr()),
                                   axes, in->layout.dtype, false));
  }
  PyObject* operand = total.ptr();
  return call_operator(Operator::sqrt, &operand, 1, nullptr);
}

// The number of elements that are true, or not zero.
PyObject* count(const DirectCall& call) {
  const Array* in = call.n == 1 && !call.kwnames ? plain_array(call.args[0]) : nullptr;
  if (!in || in->layout.size == 0 || !in->layout.contiguous()) return nullptr;
  if (in->layout.dtype == DType::b1 && bytes_as_bools) return nullptr;
  const Array bools = of_dtype(*in, DType::b1);
  Array out = Array::make(DType::i64, Dims{}, budget_of(device_of(*in)));
  Building op;
  build_count(*op, bools, out);
  op.issue(device_of(*in));
  return wrap_result(std::move(out));
}

// --- order -----------------------------------------------------------------------------------------------------------

// NumPy's functions for one dtype; null if it has no such functions that need no array.
PyArray_ArrFuncs* functions_of(DType t) {
  if (t == DType::bf16) return nullptr;
  return PyDataType_GetArrFuncs(reinterpret_cast<PyArray_Descr*>(dtype_object(t)));
}

// The array as a single line, or the axis of its lines. False: not a plain call.
bool lines(const DirectCall& call, bool all_by_default, const Array** in, Array* flat, int* axis) {
  static constexpr const char* names[] = {"a", "axis"};
  PyObject* v[2];
  if (!call.arrange(names, v) || !(*in = plain_array(v[0])) || (*in)->layout.size == 0) return false;
  int n = (*in)->layout.ndim();
  if (n == 0) return false;
  if (v[1] ? v[1] == Py_None : all_by_default) {
    if (n > 1 && !(*in)->layout.contiguous()) return false;
    if (n > 1) *flat = reshaped(**in, Dims{(*in)->layout.size}), *in = flat;
    *axis = 0;
    return true;
  }
  *axis = n - 1;
  return !v[1] || plain_axis(v[1], n, axis);
}

template <bool largest>
PyObject* arg(const DirectCall& call) {
  static const char* const label = intern(largest ? "argmax" : "argmin");
  const Array* in;
  Array flat;
  int axis;
  if (!lines(call, true, &in, &flat, &axis)) return nullptr;
  PyArray_ArrFuncs* functions = functions_of(in->layout.dtype);
  auto* function = functions ? reinterpret_cast<ArgFunction>(largest ? functions->argmax : functions->argmin) : nullptr;
  if (!function) return nullptr;
  Array out = Array::make(DType::i64, without(in->layout.shape, axis), budget_of(device_of(*in)));
  Building op;
  build_arg(*op, label, function, largest, *in, axis, out);
  op.issue(device_of(*in));
  return wrap_result(std::move(out));
}

PyObject* sort(const DirectCall& call) {
  const Array* in;
  Array flat;
  int axis;
  if (!lines(call, false, &in, &flat, &axis)) return nullptr;
  PyArray_ArrFuncs* functions = functions_of(in->layout.dtype);
  auto* function = functions ? reinterpret_cast<SortFunction>(functions->sort[NPY_QUICKSORT]) : nullptr;
  if (!function) return nullptr;
  const std::optional<AxisOrder> order = order_of(*in);
  const Array transposed = order ? Array(in->storage(), order->transposed(in->layout)) : *in;
  Array out = Array::make(transposed.layout.dtype, transposed.layout.shape, budget_of(device_of(transposed)));
  Building op;
  build_sort(*op, function, transposed, order ? order->place(axis) : axis, out);
  op.issue(device_of(transposed));
  if (order) out.layout = order->restored(out.layout);
  return wrap(std::move(out));
}

// Equal elements keep their order; or have that of NumPy's own function, if forerun replaces NumPy.
PyObject* argsort(const DirectCall& call) {
  const Array* in;
  Array flat;
  int axis;
  if (!lines(call, false, &in, &flat, &axis)) return nullptr;
  PyArray_ArrFuncs* functions = functions_of(in->layout.dtype);
  const Equals equals = numpy_rules ? Equals::as_left : Equals::in_order;
  const bool stable = equals == Equals::in_order && sorts_stably(in->layout.dtype);
  auto* function = functions
                       ? reinterpret_cast<ArgSortFunction>(functions->argsort[stable ? NPY_STABLESORT : NPY_QUICKSORT])
                       : nullptr;
  if (!function) return nullptr;
  Array out = Array::make(DType::i64, in->layout.shape, budget_of(device_of(*in)));
  Building op;
  build_argsort(*op, function, equals, *in, axis, out);
  op.issue(device_of(*in));
  return wrap(std::move(out));
}

}  // namespace

void add_direct_reductions() {
  add_direct("total", reduce<Kind::total>, Lists::read_in_place);
  add_direct("extreme", reduce<Kind::extreme>, Lists::read_in_place);
  add_direct("truth", reduce<Kind::truth>, Lists::read_in_place);
  add_direct("mean", mean, Lists::read_in_place);
  add_direct("trace", trace, Lists::read_in_place);
  add_direct("norm", norm, Lists::read_in_place);
  add_direct("count", count, Lists::read_in_place);
  add_direct("argmax", arg<true>, Lists::read_in_place);
  add_direct("argmin", arg<false>, Lists::read_in_place);
  add_direct("sort", sort, Lists::as_arrays);
  add_direct("argsort", argsort, Lists::as_arrays);
}

}  // namespace forerun
