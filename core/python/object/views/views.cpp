#include "python/object/views/views.h"

#include <cstdint>
#include <string>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "engine/devices/memory_budget.h"
#include "engine/graph/sections.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/create.h"
#include "python/object/scalar.h"
#include "python/object/views/basic_index.h"
#include "python/runtime/submission/arguments.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

namespace {

nb::object view(nb::handle a, nb::handle shape, nb::handle strides, int64_t offset) {
  Array own;
  const Array& from = viewed("view", a.ptr(), own);
  Layout to;
  to.dtype = from.layout.dtype;
  to.shape = parse_dims("view", shape.ptr());
  to.strides = parse_dims("view", strides.ptr());
  to.offset = from.layout.offset + offset;
  to.read_only = from.layout.read_only;
  to.size = product(to.shape);
  if (to.shape.size() != to.strides.size())
    throw Error(ErrorKind::value, "view: shape and strides must be of one length, got " + to_string(to.shape) +
                                      " and " + to_string(to.strides));
  auto [low, high] = to.range();
  if (to.size > 0 && (low < 0 || high > static_cast<int64_t>(from.storage()->bytes)))
    throw Error(ErrorKind::value, "view: elements must lie in the array's memory, got bytes " + std::to_string(low) +
                                      " to " + std::to_string(high));
  return wrapped(Array(from.storage(), std::move(to)));
}

// The same bytes as elements of another dtype; the last axis gets longer or shorter if their sizes differ.
nb::object reinterpret(nb::handle a, nb::handle dtype) {
  const Array& from = arg("view", a);
  Layout to = from.layout;
  to.dtype = parse_dtype("view", dtype.ptr());
  if (from.layout.dtype != to.dtype && (from.layout.dtype == DType::b1 || to.dtype == DType::b1)) bytes_as_bools = true;
  auto was = static_cast<int64_t>(item_size(from.layout.dtype)), is = static_cast<int64_t>(item_size(to.dtype));
  auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::value, "view: " + what + " for elements of another size, got shape " + to_string(to.shape) +
                                      ", " + name(from.layout.dtype) + " to " + name(to.dtype));
  };
  if (was != is) {
    int last = to.ndim() - 1;
    if (last < 0) refuse("array must have an axis");
    if (to.shape[last] != 1 && to.strides[last] != was && to.size) refuse("last axis must be without gaps");
    if (to.shape[last] * was % is) refuse("last axis must have the bytes of whole elements");
    bool fits = to.offset % is == 0;
    for (int i = 0; i < last; ++i) fits = fits && (to.strides[i] % is == 0 || to.shape[i] == 1);
    if (!fits && to.size) refuse("elements must be aligned");
    to.shape[last] = to.shape[last] * was / is, to.strides[last] = is;
    to.size = product(to.shape);
  }
  return wrapped_like(a, Array(from.storage(), std::move(to)));
}

// A view of the real or the imaginary parts of complex numbers.
nb::object part(nb::handle a, bool imaginary) {
  const Array& from = arg("real", a);
  const bool small = from.layout.dtype == DType::c64;
  if (!small && from.layout.dtype != DType::c128)
    throw Error(ErrorKind::type, std::string("real: dtype must be complex, got ") + name(from.layout.dtype));
  Layout to = from.layout;
  to.dtype = small ? DType::f32 : DType::f64;
  if (imaginary) to.offset += static_cast<int64_t>(item_size(to.dtype));
  return wrapped_like(a, Array(from.storage(), std::move(to)));
}

// Strides of `layout` viewed with another shape of the same size, if that needs no copy (NumPy's rule: axes are split
// or merged only where memory is regular).
bool reshape_strides(const Layout& layout, const Dims& shape, Dims* strides) {
  *strides = Dims(shape.size());
  if (layout.contiguous()) {
    *strides = Layout::dense(layout.dtype, shape).strides;
    return true;
  }
  int64_t extent[kMaxDims], step[kMaxDims];
  int n = 0;
  for (int i = 0; i < layout.ndim(); ++i)
    if (layout.shape[i] != 1) extent[n] = layout.shape[i], step[n++] = layout.strides[i];
  int from = 0, to = 0;
  while (from < n || to < shape.size()) {
    int f = from, t = to;
    int64_t had = from < n ? extent[from++] : 1, wanted = to < shape.size() ? shape[to++] : 1;
    while (had != wanted) {
      if (had < wanted)
        had *= extent[from++];
      else
        wanted *= shape[to++];
    }
    for (int i = f; i + 1 < from; ++i)
      if (step[i] != step[i + 1] * extent[i + 1]) return false;
    int64_t s = from > f ? step[from - 1] : 0;
    for (int i = to - 1; i >= t; --i) (*strides)[i] = s, s *= shape[i];
  }
  return true;
}

}  // namespace

Array reshaped(const Array& given, Dims shape) {
  Array from = given;
  int64_t known = 1;
  int open = -1;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] >= 0)
      known *= shape[i];
    else if (shape[i] < -1)
      throw Error(ErrorKind::value, "reshape: extents must not be negative but for one -1, got " + to_string(shape));
    else if (open < 0)
      open = i;
    else
      throw Error(ErrorKind::value, "reshape: at most one extent must be -1, got " + to_string(shape));
  }
  Dims asked = shape;
  if (open >= 0) shape[open] = known ? from.layout.size / known : 0;
  if (product(shape) != from.layout.size)
    throw Error(ErrorKind::value, "reshape: new shape must hold " + std::to_string(from.layout.size) +
                                      " elements, got " + to_string(from.layout.shape) + " -> " + to_string(asked));
  Layout to;
  if (from.layout.size == 0 || !reshape_strides(from.layout, shape, &to.strides)) {
    if (from.layout.size) from = copied(from, from.layout.dtype, device_of(from));
    to.strides = Layout::dense(from.layout.dtype, shape).strides;
  }
  to.dtype = from.layout.dtype;
  to.shape = shape;
  to.offset = from.layout.offset, to.read_only = from.layout.read_only;
  to.size = from.layout.size;
  return Array(from.storage(), std::move(to));
}

Array with_axes(const Array& from, const int* axes) {
  Layout to = from.layout;
  for (int i = 0; i < to.ndim(); ++i)
    to.shape[i] = from.layout.shape[axes[i]], to.strides[i] = from.layout.strides[axes[i]];
  return Array(from.storage(), std::move(to));
}

namespace {

nb::object reshape(nb::handle a, nb::handle shape_object) {
  Dims shape = parse_dims("reshape", shape_object.ptr());
  Array own;
  return wrapped_like(a, reshaped(shape.empty() ? arg("reshape", a) : viewed("reshape", a.ptr(), own), shape));
}

nb::object transpose(nb::handle a, nb::handle axes_object) {
  const Array& from = arg("transpose", a);
  Dims axes = parse_dims("transpose", axes_object.ptr());
  int n = from.layout.ndim();
  if (axes.size() != n)
    throw Error(ErrorKind::value,
                "transpose: axes must name each of " + std::to_string(n) + " axes once, got " + to_string(axes));
  int order[kMaxDims];
  uint64_t seen = 0;
  for (int i = 0; i < n; ++i) {
    order[i] = normal_axis("transpose", axes[i], n);
    if (seen >> order[i] & 1)
      throw Error(ErrorKind::value, "transpose: axes must name each axis once, got " + to_string(axes));
    seen |= uint64_t{1} << order[i];
  }
  return wrapped_like(a, with_axes(from, order));
}

nb::object read_only(Array array, bool on = true) {
  array.layout.read_only = on;
  return wrapped(std::move(array));
}

nb::object broadcast_view(nb::handle a, nb::handle shape) {
  const Array& from = arg("broadcast_to", a);
  return read_only(
      Array(from.storage(), broadcast_to("broadcast_to", from.layout, parse_dims("broadcast_to", shape.ptr()))));
}

nb::object getitem(nb::handle a, nb::handle index) {
  Array view, own;
  if (!basic_index(viewed("getitem", a.ptr(), own), index.ptr(), &view))
    throw Error(ErrorKind::index, "getitem: index must be made of ints, slices, None and Ellipsis");
  return wrapped(std::move(view));
}

nb::object read(nb::handle a, nb::handle index) {
  PyObject* found = read_basic(a.ptr(), index.ptr());
  if (!found && !PyErr_Occurred())
    throw Error(ErrorKind::index, "getitem: index must be made of ints, slices, None and Ellipsis");
  return checked(found);
}

}  // namespace

void init_views(Module& m) {
  m.def("view", view, nb::arg("a"), nb::arg("shape"), nb::arg("strides"), nb::arg("offset") = 0);
  m.def("reinterpret", reinterpret, nb::arg("a"), nb::arg("dtype"), "A view of the same bytes with another dtype.");
  m.def("part", part, nb::arg("a"), nb::arg("imaginary"),
        "A view of the real or the imaginary parts of complex numbers.");
  m.def(
      "byte_offset", [](nb::handle a) { return arg("byte_offset", a).layout.offset; }, nb::arg("a"),
      "The bytes of the storage before the first element.");
  m.def("reshape", reshape);
  m.def("transpose", transpose);
  m.def("broadcast_to", broadcast_view);
  m.def(
      "read_only", [](nb::handle a, bool on) { return read_only(arg("view", a), on); }, nb::arg("a"),
      nb::arg("on") = true, "The array as a read-only view, as are views of it; or as one that may be written again.");
  m.def("is_writable", [](nb::handle a) { return arg("flags", a).writable(); }, nb::arg("a"));
  m.def("getitem", getitem, nb::arg("a"), nb::arg("index").none(),
        "The view that a basic index selects, also of one element.");
  m.def("read", read, nb::arg("a"), nb::arg("index").none(),
        "The same, but a scalar where integers alone name one element.");
}

}  // namespace forerun
