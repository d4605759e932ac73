#include "python/ops/index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/copy/gather_scatter.h"
#include "cpu/kernels/elementwise/elementwise.h"
#include "cpu/kernels/elementwise/masked_write.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/dispatch/loops/loop_resolution.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/dispatch/ufunc_type.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/scalar.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/submission/arguments.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

Combine combined(UfuncObject* u, const Signature& s, DType t) {
  if (!u->at_name) u->at_name = intern((std::string(u->name) + ".at").c_str());
  Combine combine{u->at_name, s.loop,  {s.types[0], s.types[1], s.types[2]},
                  u->nin,     nullptr, s.loop.may_throw ? "" : u->name};
  // Loops of other libraries may compute anything, whatever their names are.
  if (u->nin == 2 && s.types[0] == t && s.types[1] == t && s.types[2] == t && !s.loop.may_throw)
    combine.each = each_of(u->facts.formula, t);
  return combine;
}

namespace {

struct Indexed {
  std::vector<Array> indices;  // broadcast to one shape, except numbers
  int axis;
  Dims shape;  // of the selected elements
};

Indexed read_indices(const char* op, const Array& a, nb::handle indices, int64_t axis) {
  Indexed x{args(op, indices), 0, {}};
  int k = static_cast<int>(x.indices.size()), n = a.layout.ndim();
  if (k == 0) throw Error(ErrorKind::index, std::string(op) + ": indices must not be empty");
  x.axis = normal_axis(op, axis, n);
  if (x.axis + k > n)
    throw Error(ErrorKind::index, std::string(op) + ": too many index arrays for shape " + to_string(a.layout.shape) +
                                      ", got " + std::to_string(k));
  Dims common;
  for (const Array& i : x.indices) {
    if (!is_integer(i.layout.dtype))
      throw Error(ErrorKind::index, std::string(op) + ": indices must be integers, got " + name(i.layout.dtype));
    same_device(op, a, i);
    common = broadcast(op, common, i.layout.shape);
  }
  for (Array& i : x.indices)
    if (i.layout.ndim()) i = Array(i.storage(), broadcast_to(op, i.layout, common));
  x.shape = Dims(n - k + common.size());
  auto at = std::copy(a.layout.shape.begin(), a.layout.shape.begin() + x.axis, x.shape.begin());
  at = std::copy(common.begin(), common.end(), at);
  std::copy(a.layout.shape.begin() + x.axis + k, a.layout.shape.end(), at);
  return x;
}

nb::object gather(nb::handle a_object, nb::handle indices, int64_t axis, const char* op_name) {
  const Array& a = arg("take", a_object);
  Indexed x = read_indices("take", a, indices, axis);
  Array out = Array::make(a.layout.dtype, x.shape, budget_of(device_of(a)));
  Building op;
  build_gather(*op, a, x.indices, x.axis, out, intern(op_name));
  op.issue(device_of(a));
  return wrapped_result(std::move(out));
}

// The combination of elements of dtype t with values, at positions: a ufunc's loop of these dtypes; no value: the value
// replaces the element.
std::optional<Combine> combining(nb::handle ufunc, nb::handle dtypes, DType t) {
  if (ufunc.is_none()) return std::nullopt;
  UfuncObject* u = get_ufunc("at", ufunc.ptr());
  const Signature* s = named_loop(u, dtypes.ptr());
  if (u->nin > 2 || u->nout != 1)
    throw Error(ErrorKind::value,
                std::string(u->name) + ": at must be of a ufunc with one or two inputs and one output");
  return combined(u, *s, t);
}

// Values for an array, in the dtype in which they are written or combined.
const Array& values_for(const char* op, const Array& a, nb::handle values_object, const Combine* combine) {
  const Array& values = arg(op, values_object);
  same_device(op, a, values);
  DType t = combine && combine->n_in == 2 ? combine->types[1] : a.layout.dtype;
  if (t != values.layout.dtype)
    throw Error(ErrorKind::type, std::string(op) + ": values must have the array's dtype " + name(t) + ", got " +
                                     name(values.layout.dtype));
  return values;
}

void scatter(nb::handle a_object, nb::handle indices, int64_t axis, nb::handle values_object, bool add,
             nb::handle ufunc, nb::handle dtypes) {
  const Array& a = writable("put", get_writable("put", a_object.ptr()));
  std::optional<Combine> combine =
      add ? std::optional(adding(a.layout.dtype)) : combining(ufunc, dtypes, a.layout.dtype);
  const Array& values = values_for("put", a, values_object, combine ? &*combine : nullptr);
  Indexed x = read_indices("put", a, indices, axis);
  Building op;
  build_scatter(*op, a, x.indices, x.axis, Array(values.storage(), broadcast_to("put", values.layout, x.shape)),
                combine ? &*combine : nullptr);
  op.issue(device_of(a));
}

const Array& mask_for(const char* op, const Array& a, nb::handle mask_object) {
  const Array& mask = arg(op, mask_object);
  same_device(op, a, mask);
  if (mask.layout.dtype != DType::b1)
    throw Error(ErrorKind::type, std::string(op) + ": mask must be of bools, got " + name(mask.layout.dtype));
  return mask;
}

// a[..., mask, ...] = values, with one value for each element under the mask along `axis`.
void scatter_masked(nb::handle a_object, nb::handle mask_object, int64_t axis, nb::handle values_object,
                    const char* op_name, nb::handle ufunc, nb::handle dtypes) {
  const Array& a = writable(op_name, get_writable(op_name, a_object.ptr()));
  const Array& mask = mask_for(op_name, a, mask_object);
  std::optional<Combine> combine = combining(ufunc, dtypes, a.layout.dtype);
  const Array& values = values_for(op_name, a, values_object, combine ? &*combine : nullptr);
  const int covered = mask.layout.ndim(), n = a.layout.ndim(), at = static_cast<int>(axis);
  bool fits = covered > 0 && at >= 0 && at + covered <= n;
  for (int i = 0; fits && i < covered; ++i) fits = mask.layout.shape[i] == a.layout.shape[at + i];
  if (!fits)
    throw Error(ErrorKind::index, std::string(op_name) + ": mask must have the shape of axes from " +
                                      std::to_string(axis) + " on, got " + to_string(mask.layout.shape) + " for " +
                                      to_string(a.layout.shape));
  Dims shape(n - covered + 1);
  for (int i = 0; i < shape.size(); ++i) shape[i] = a.layout.shape[i < at ? i : i + covered - 1];
  const int lead = shape.size() - values.layout.ndim();
  shape[at] = lead > at ? 1 : values.layout.shape[at - lead];
  Building op;
  build_scatter_masked(*op, a, mask, at, Array(values.storage(), broadcast_to(op_name, values.layout, shape)),
                       combine ? &*combine : nullptr, intern(op_name));
  op.issue(device_of(a));
}

// Writes elements of the flat array, of any layout, at positions in a vector; values are repeated if there are fewer.
void put(nb::handle a_object, nb::handle index_object, nb::handle values_object, const char* op_name) {
  const Array &a = writable(op_name, get_writable(op_name, a_object.ptr())), &index = arg(op_name, index_object);
  const Array& values = values_for(op_name, a, values_object, nullptr);
  same_device(op_name, a, index);
  if (!is_integer(index.layout.dtype))
    throw Error(ErrorKind::index, std::string(op_name) + ": indices must be integers, got " + name(index.layout.dtype));
  if (index.layout.ndim() != 1 || values.layout.ndim() != 1 || values.layout.size == 0)
    throw Error(ErrorKind::value, std::string(op_name) +
                                      ": indices and values must be vectors, and values not empty, got " +
                                      to_string(index.layout.shape) + " and " + to_string(values.layout.shape));
  Building op;
  build_put(*op, a, index, values, intern(op_name));
  op.issue(device_of(a));
}

// An operand of a masked operation: an array, or a Python number in the loop's dtype.
Operand operand_of(const char* op, nb::handle o, DType t) {
  Operand operand{};
  if (is_array(o.ptr()))
    operand.array = &arg(op, o);
  else if (!put_scalar(op, o.ptr(), t, operand.scalar.bytes))
    throw nb::python_error();
  return operand;
}

// outs[where] = op(inputs...)[where] by the loop of these dtypes; outs of one shape.
void masked(nb::handle ufunc, nb::handle inputs, nb::handle where_object, nb::handle outs, nb::handle dtypes) {
  UfuncObject* u = get_ufunc("masked", ufunc.ptr());
  const Signature* s = named_loop(u, dtypes.ptr());
  std::vector<Array> to;
  for (nb::handle out : outs) to.push_back(get_writable(u->name, out.ptr()));
  if (u->nin + u->nout > kMaxMasked || static_cast<int>(to.size()) != u->nout ||
      static_cast<int>(nb::len(inputs)) != u->nin)
    throw Error(ErrorKind::value, std::string(u->name) + ": there must be as many operands as the loop has, got " +
                                      std::to_string(nb::len(inputs)) + " and " + std::to_string(to.size()));
  Operand operands[kMaxMasked];
  const Array* outputs[kMaxMasked];
  const Array& mask = mask_for(u->name, to[0], where_object);
  int i = 0;
  for (nb::handle o : inputs) {
    operands[i] = operand_of(u->name, o, s->types[i]);
    if (operands[i].array) same_device(u->name, to[0], *operands[i].array);
    ++i;
  }
  for (size_t k = 0; k < to.size(); ++k) {
    outputs[k] = &writable(u->name, to[k]);
    same_device(u->name, to[0], to[k]);
    if (!(to[k].layout.shape == to[0].layout.shape))
      throw Error(ErrorKind::value, std::string(u->name) + ": outputs must have one shape, got " +
                                        to_string(to[0].layout.shape) + " and " + to_string(to[k].layout.shape));
  }
  Building op;
  build_masked(*op, u->name, s->loop, s->types, operands, u->nin, outputs, u->nout, mask);
  op.issue(device_of(to[0]));
}

// to[where] = value, cast to its dtype.
void masked_copy(nb::handle to_object, nb::handle where_object, nb::handle value, const char* op_name) {
  const Array& to = writable(op_name, get_writable(op_name, to_object.ptr()));
  const Array& mask = mask_for(op_name, to, where_object);
  Operand operand = operand_of(op_name, value, to.layout.dtype);
  if (operand.array) same_device(op_name, to, *operand.array);
  const DType types[2] = {to.layout.dtype, to.layout.dtype};  // to which the operand is cast
  const Array* output = &to;
  Building op;
  build_masked(*op, intern(op_name), Loop{}, types, &operand, 1, &output, 1, mask);
  op.issue(device_of(to));
}

// Writes values one after the other under a mask of the array's shape. placing: "each", "in turn" or "in place", see
// Placing.
void place(nb::handle to_object, nb::handle mask_object, nb::handle values_object, const char* placing,
           const char* op_name) {
  const Array& to = writable(op_name, get_writable(op_name, to_object.ptr()));
  const Array& mask = mask_for(op_name, to, mask_object);
  const Array& values = values_for(op_name, to, values_object, nullptr);
  if (!(mask.layout.shape == to.layout.shape) || values.layout.ndim() != 1)
    throw Error(ErrorKind::value, std::string(op_name) +
                                      ": mask must have the array's shape and values one axis, got " +
                                      to_string(mask.layout.shape) + " and " + to_string(values.layout.shape));
  const std::string_view how = placing;
  Building op;
  build_place(*op, to, mask, values,
              how == "each"      ? Placing::each
              : how == "in turn" ? Placing::in_turn
                                 : Placing::in_place,
              intern(op_name));
  op.issue(device_of(to));
}

// Index arrays along one axis. Errors name `op`.
int check_along(const char* op, const Array& a, const Array& index, int64_t axis) {
  same_device(op, a, index);
  if (!is_integer(index.layout.dtype))
    throw Error(ErrorKind::index, std::string(op) + ": indices must be integers, got " + name(index.layout.dtype));
  int at = normal_axis(op, axis, a.layout.ndim());
  bool fits = index.layout.ndim() == a.layout.ndim();
  for (int i = 0; fits && i < a.layout.ndim(); ++i)
    fits = i == at || a.layout.shape[i] == 1 || a.layout.shape[i] == index.layout.shape[i];
  if (!fits)
    throw Error(ErrorKind::value, std::string(op) + ": indices must fit the array but along the axis, got " +
                                      to_string(index.layout.shape) + " for " + to_string(a.layout.shape));
  return at;
}

nb::object gather_along(nb::handle a_object, nb::handle indices, int64_t axis, const char* op_name, bool from_end) {
  const Array &a = arg("take_along_axis", a_object), &index = arg("take_along_axis", indices);
  int at = check_along("take_along_axis", a, index, axis);
  Array out = Array::make(a.layout.dtype, index.layout.shape, budget_of(device_of(a)));
  Building op;
  build_gather_along(*op, a, index, at, out, intern(op_name), from_end);
  op.issue(device_of(a));
  return wrapped(std::move(out));
}

void scatter_along(nb::handle a_object, nb::handle indices, int64_t axis, nb::handle values_object, bool add) {
  const char* what = "put_along_axis";
  const Array &a = writable(what, get_writable(what, a_object.ptr())), &index = arg(what, indices),
              &values = arg(what, values_object);
  same_device(what, a, values);
  if (a.layout.dtype != values.layout.dtype)
    throw Error(ErrorKind::type, std::string(what) + ": values must have the array's dtype " + name(a.layout.dtype) +
                                     ", got " + name(values.layout.dtype));
  int at = check_along(what, a, index, axis);
  Building op;
  const Combine sum = adding(a.layout.dtype);
  build_scatter_along(*op, a, index, at, Array(values.storage(), broadcast_to(what, values.layout, index.layout.shape)),
                      add ? &sum : nullptr);
  op.issue(device_of(a));
}

}  // namespace

void init_index(Module& m) {
  m.def("gather", gather, nb::arg("a"), nb::arg("indices"), nb::arg("axis") = 0, nb::arg("op_name") = "take");
  m.def("scatter", scatter, nb::arg("a"), nb::arg("indices"), nb::arg("axis"), nb::arg("values"),
        nb::arg("add") = false, nb::arg("ufunc").none() = nb::none(), nb::arg("loop").none() = nb::none(),
        "ufunc, loop: the function that combines elements and values, and its dtypes; by default values replace "
        "elements.");
  m.def("scatter_masked", scatter_masked, nb::arg("a"), nb::arg("mask"), nb::arg("axis"), nb::arg("values"),
        nb::arg("op_name") = "setitem", nb::arg("ufunc").none() = nb::none(), nb::arg("loop").none() = nb::none());
  m.def("put", put, nb::arg("a"), nb::arg("index"), nb::arg("values"), nb::arg("op_name") = "put");
  m.def("masked", masked, nb::arg("ufunc"), nb::arg("inputs"), nb::arg("where"), nb::arg("outs"), nb::arg("loop"));
  m.def("masked_copy", masked_copy, nb::arg("to"), nb::arg("where"), nb::arg("value"), nb::arg("op_name") = "setitem");
  m.def("place", place, nb::arg("to"), nb::arg("mask"), nb::arg("values"), nb::arg("placing"),
        nb::arg("op_name") = "place");
  m.def("gather_along", gather_along, nb::arg("a"), nb::arg("indices"), nb::arg("axis"), nb::arg("op_name") = "take",
        nb::arg("from_end") = true);
  m.def("scatter_along", scatter_along, nb::arg("a"), nb::arg("indices"), nb::arg("axis"), nb::arg("values"),
        nb::arg("add") = false);
}

}  // namespace forerun
