// Convolutions and pooling, for Python.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "array/array.h"
#include "base/simd/simd_target.h"
#include "cpu/kernels/conv/conv.h"
#include "cpu/kernels/conv/conv_weight_grad.h"
#include "cpu/kernels/conv/pooling.h"
#include "cpu/kernels/signal/convolve.h"
#include "cpu/kernels/winograd/winograd.h"
#include "cpu/kernels/winograd/winograd_weight_grad.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/object/create.h"
#include "python/runtime/submission/accelerators.h"
#include "python/runtime/submission/arguments.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

// Copies numbers per axis into the last elements of `to`, of three.
void set_axes(int64_t (&to)[3], nb::handle values, int n) {
  auto given = list_of<int64_t>(values);
  if (static_cast<int>(given.size()) != n)
    throw Error(ErrorKind::value, "windows: there must be a number per axis, got " + std::to_string(given.size()) +
                                      " for " + std::to_string(n));
  std::copy(given.begin(), given.end(), to + (3 - n));
}

// Reads the settings from Python's tuple (stride, dilate, pad, groups, extents).
Correlation settings(nb::handle given, const Dims& weight) {
  int n = weight.size() - 2;
  if (n < 1 || n > 3)
    throw Error(ErrorKind::value, "conv: weight must have three to five axes, got shape " + to_string(weight));
  Correlation c;
  set_axes(c.stride, given[0], n), set_axes(c.dilate, given[1], n), set_axes(c.pad, given[2], n);
  c.groups = nb::cast<int64_t>(given[3]);
  set_axes(c.extents, given[4], n);
  std::copy(weight.begin() + 2, weight.end(), c.kernel + (3 - n));
  c.in = weight[1], c.out = c.groups > 0 ? weight[0] / c.groups : 0;
  bool good = c.groups > 0 && c.in > 0 && c.out > 0 && c.out * c.groups == weight[0];
  for (int a = 0; good && a < 3; ++a) {
    good = c.kernel[a] > 0 && c.stride[a] > 0 && c.dilate[a] > 0 && c.pad[a] >= 0 && c.extents[a] > 0;
    if (!good) break;
    int64_t left = c.extents[a] + 2 * c.pad[a] - (c.kernel[a] - 1) * c.dilate[a] - 1;
    good = left >= 0;
    c.counts[a] = left / c.stride[a] + 1;
  }
  if (!good) throw Error(ErrorKind::value, "conv: settings must fit, got weight " + to_string(weight));
  return c;
}

Dims field_shape(int64_t examples, int64_t channels, const int64_t (&extents)[3], int n) {
  Dims shape(n + 2);
  shape[0] = examples, shape[1] = channels;
  std::copy(extents + (3 - n), extents + 3, shape.begin() + 2);
  return shape;
}

// Returns the device that both operands share; checks the device, and the dtype, for which there must be kernels.
int checked_pair(const char* op, const Array& a, const Array& b) {
  check_has_kernels(op, a.layout.dtype);
  if (a.layout.dtype != b.layout.dtype)
    throw Error(ErrorKind::type, std::string(op) + ": operands must have one dtype, got " + name(a.layout.dtype) +
                                     " and " + name(b.layout.dtype));
  return same_device(op, a, b);
}

void check_shape(const Array& array, const Dims& shape) {
  if (!(array.layout.shape == shape))
    throw Error(ErrorKind::value,
                "windows: operand must have shape " + to_string(shape) + ", got " + to_string(array.layout.shape));
}

// Whether Winograd's method is used: an accelerator has methods of its own.
bool by_winograd(const Correlation& c, const Array& operand, bool back) {
  return on_host(operand) && winograd_takes(c, operand.layout.dtype, back);
}

nb::object sweep(nb::handle source_object, nb::handle w_object, nb::handle given, bool back) {
  const Array &source = arg("conv", source_object), &w = arg("conv", w_object);
  int device = checked_pair("conv", source, w), n = w.layout.ndim() - 2;
  Correlation c = settings(given, w.layout.shape);
  c.examples = source.layout.ndim() ? source.layout.shape[0] : 0;
  Dims data = field_shape(c.examples, c.groups * c.in, c.extents, n),
       result = field_shape(c.examples, c.groups * c.out, c.counts, n);
  check_shape(source, back ? result : data);
  Array target = Array::make(w.layout.dtype, back ? data : result, budget_of(device));
  Building op;
  if (by_winograd(c, w, back)) {
    Array points = Array::make(w.layout.dtype, {winograd_points(c, back)}, budget_of(device));
    Building first;
    build_winograd_points(*first, c, back, w, points);
    first.issue(device);
    build_winograd(*op, c, back, source, w, points, target);
  } else {
    (back ? build_conv_back : build_conv)(*op, c, source, w, target);
  }
  op.issue(device);
  return wrapped(std::move(target));
}

nb::object conv_weight(nb::handle y_object, nb::handle x_object, nb::handle given, nb::handle shape) {
  const Array &y = arg("conv", y_object), &x = arg("conv", x_object);
  Dims weight = parse_dims("conv", shape.ptr());
  int device = checked_pair("conv", y, x), n = weight.size() - 2;
  Correlation c = settings(given, weight);
  c.examples = x.layout.ndim() ? x.layout.shape[0] : 0;
  check_shape(x, field_shape(c.examples, c.groups * c.in, c.extents, n)),
      check_shape(y, field_shape(c.examples, c.groups * c.out, c.counts, n));
  Dims parts(weight.size() + 1);
  bool winograd = by_winograd(c, x, false);
  parts[0] = winograd ? winograd_parts(c) : conv_weight_parts(c, x.layout.dtype);
  std::copy(weight.begin(), weight.end(), parts.begin() + 1);
  Array sums = Array::make(x.layout.dtype, parts, budget_of(device));
  Building op;
  (winograd ? build_winograd_weight : build_conv_weight)(*op, c, y, x, sums);
  op.issue(device);
  return wrapped(std::move(sums));
}

// --- pooling: data and results are (..., *extents) and (..., *counts) ------------------------------------------------

Dims with_last(const Dims& shape, const int64_t (&last)[3], int n) {
  Dims all = shape;
  std::copy(last + (3 - n), last + 3, all.end() - n);
  return all;
}

// The windows of data of this shape.
Pooling pooling(const Dims& shape, nb::handle kernel, nb::handle stride, bool largest) {
  int n = static_cast<int>(nb::len(kernel));
  Pooling p;
  bool good = n >= 1 && n <= 3 && n <= shape.size();
  if (good) {
    set_axes(p.kernel, kernel, n), set_axes(p.stride, stride, n);
    std::copy(shape.end() - n, shape.end(), p.extents + (3 - n));
  }
  for (int a = 0; good && a < 3; ++a) {
    good = p.kernel[a] > 0 && p.stride[a] > 0 && p.extents[a] >= p.kernel[a];
    if (good) p.counts[a] = (p.extents[a] - p.kernel[a]) / p.stride[a] + 1;
  }
  if (!good) throw Error(ErrorKind::value, "pool: windows must fit into the data, got shape " + to_string(shape));
  p.largest = largest;
  p.planes = 1;
  for (int i = 0; i + n < shape.size(); ++i) p.planes *= shape[i];
  return p;
}

nb::object pool(nb::handle x_object, nb::handle kernel, nb::handle stride, bool largest) {
  Array x = dense(arg("pool", x_object));
  check_has_kernels("pool", x.layout.dtype);
  Pooling p = pooling(x.layout.shape, kernel, stride, largest);
  Array y = Array::make(x.layout.dtype, with_last(x.layout.shape, p.counts, static_cast<int>(nb::len(kernel))),
                        budget_of(device_of(x)));
  Building op;
  build_pool(*op, p, x, y);
  op.issue(device_of(x));
  return wrapped(std::move(y));
}

// x and y: data and largest elements; or None: the gradient goes to all elements.
nb::object pool_back(nb::handle g_object, nb::handle x_object, nb::handle y_object, nb::handle shape, nb::handle kernel,
                     nb::handle stride) {
  Array g = dense(arg("pool", g_object));
  check_has_kernels("pool", g.layout.dtype);
  Array to = Array::make(g.layout.dtype, parse_dims("pool", shape.ptr()), budget_of(device_of(g)));
  Pooling p = pooling(to.layout.shape, kernel, stride, !x_object.is_none());
  check_shape(g, with_last(to.layout.shape, p.counts, static_cast<int>(nb::len(kernel))));
  Building op;
  if (p.largest) {
    Array x = dense(arg("pool", x_object)), y = dense(arg("pool", y_object));
    checked_pair("pool", g, x), checked_pair("pool", g, y);
    check_shape(x, to.layout.shape), check_shape(y, g.layout.shape);
    build_pool_first(*op, p, g, x, y, to);
  } else {
    build_pool_all(*op, p, g, to);
  }
  op.issue(device_of(g));
  return wrapped(std::move(to));
}

}  // namespace

namespace {

// Sums of neighbours with weights, of vectors of one dtype; None if the kernel does not support them.
nb::object neighbours(nb::handle in_object, nb::handle weights_object, int64_t first, int64_t length) {
  const Array &in = arg("conv", in_object), &weights = arg("conv", weights_object);
  const DType t = in.layout.dtype;
  const bool good = (t == DType::f32 || t == DType::f64) && weights.layout.dtype == t && in.layout.ndim() == 1 &&
                    weights.layout.ndim() == 1 && in.layout.contiguous() && in.layout.size > 0 &&
                    weights.layout.size > 0 && weights.layout.size <= kMostWeights && length > 0;
  if (!good) return nb::none();
  Array out = Array::make(t, Dims{length}, budget_of(same_device("conv", in, weights)));
  Building op;
  build_neighbours(*op, in, weights, first, out);
  op.issue(device_of(in));
  return wrapped(std::move(out));
}

}  // namespace

void init_conv(Module& m) {
  m.def("neighbours", neighbours, nb::arg("a"), nb::arg("weights"), nb::arg("first"), nb::arg("length"),
        "Sums of a[first + i + j] * weights[j] over j, of few weights; None if it does not suit them.");
  m.def(
      "conv", [](nb::handle x, nb::handle w, nb::handle settings) { return sweep(x, w, settings, false); },
      nb::arg("x"), nb::arg("w"), nb::arg("settings"),
      "The correlation of data with a weight; settings: (stride, dilate, pad, groups, extents of the data).");
  m.def(
      "conv_back", [](nb::handle y, nb::handle w, nb::handle settings) { return sweep(y, w, settings, true); },
      nb::arg("y"), nb::arg("w"), nb::arg("settings"), "The gradient of `conv` for the data.");
  m.def("conv_weight", conv_weight, nb::arg("y"), nb::arg("x"), nb::arg("settings"), nb::arg("shape"),
        "The gradient of `conv` for a weight of that shape, in parts along a new first axis.");
  m.def("pool", pool, nb::arg("x"), nb::arg("kernel"), nb::arg("stride"), nb::arg("largest"),
        "The largest element of each window along the last axes, or the sum.");
  m.def("pool_back", pool_back, nb::arg("g"), nb::arg("x").none(), nb::arg("y").none(), nb::arg("shape"),
        nb::arg("kernel"), nb::arg("stride"),
        "A number for each window at its first largest element, or, without x and y, at all of them.");
}

}  // namespace forerun
