// Making, copying and viewing arrays, for Python.
#include <cstring>

#include "bind/direct.h"
#include "bind/glue.h"
#include "bind/hooks.h"
#include "bind/taken.h"
#include "bind/views.h"
#include "kernels/move.h"

namespace forerun {

namespace {

// Declares a new array's memory as written, with whatever stands in it.
class NothingKernel final : public Kernel {
 public:
  const char* name() const override { return "empty"; }
  void run(Op&, int64_t) override {}
  bool copy_to(Op& op) const override { return op.copy(*this); }
};

// Writes the time when it runs: when all that it reads is there. Element 0 is the time.
class ClockKernel final : public Kernel {
 public:
  const char* name() const override { return "clock"; }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t) override {
    double now = Trace::now();
    std::memcpy(operand_data(op, 0, 0), &now, sizeof now);
  }
};

// A shape of an array that the device may hold.
Dims checked_shape(const char* op, nb::handle shape, DType dtype, int device) {
  Dims dims = parse_dims(op, shape.ptr());
  double bytes = static_cast<double>(item_size(dtype));
  for (int64_t d : dims) {
    if (d < 0)
      throw Error(ErrorKind::value, std::string(op) + ": extents must not be negative, got " + to_string(dims));
    bytes *= static_cast<double>(d);
  }
  size_t limit = budget_of(device)->hard.load();
  if (bytes > 9e18 || bytes > static_cast<double>(limit))
    throw Error(ErrorKind::memory, std::string(op) + ": array must fit into memory, asked for " +
                                       std::to_string(static_cast<uint64_t>(std::min(bytes, 9e18))) + " bytes with " +
                                       std::to_string(budget_of(device)->live.load()) + " live and a limit of " +
                                       std::to_string(limit));
  return dims;
}

nb::object from_numpy(nb::handle values, nb::handle device) {
  return wrapped(from_object("array", values.ptr(), device_index("array", device)));
}

nb::object scalars(nb::handle numbers, nb::handle dtype, nb::handle device) {
  auto values = list_of<double>(numbers);
  DType t = parse_dtype("scalars", dtype.ptr());
  Array made = Array::make(t, Dims{static_cast<int64_t>(values.size())}, budget_of(device_index("scalars", device)));
  if (!made.storage()->take()) throw std::bad_alloc();
  made.storage()->materialized = true;
  char* to = made.storage()->data();
  for (double v : values) {
    nb::object value = checked(PyFloat_FromDouble(v));
    if (!put_scalar("scalars", value.ptr(), t, reinterpret_cast<unsigned char*>(to))) throw nb::python_error();
    to += item_size(t);
  }
  return wrapped(std::move(made));
}

nb::object empty(nb::handle shape, nb::handle dtype, nb::handle device) {
  int d = device_index("empty", device);
  const DType t = parse_dtype("empty", dtype.ptr());
  return wrapped(unwritten(Array::make(t, checked_shape("empty", shape, t, d), budget_of(d))));
}

nb::object full(nb::handle shape, nb::handle value, nb::handle dtype, nb::handle device) {
  const int d = device_index("full", device);
  const DType t = parse_dtype("full", dtype.ptr());
  Scalar scalar{};
  const Dims extents = checked_shape("full", shape, t, d);
  if (!put_scalar("full", value.ptr(), t, scalar.bytes)) throw nb::python_error();
  return wrapped(filled_array(extents, t, scalar, d));
}

}  // namespace

void refuse_write(const char* op, const Array& array) {
  const Layout& l = array.layout;
  auto error = [&](const char* must, const char* got) {
    return Error(ErrorKind::value,
                 std::string(op) + ": destination must " + must + ", got " + got + " of shape " + to_string(l.shape));
  };
  for (int i = 0; i < l.ndim() && l.size > 0; ++i)
    if (l.strides[i] == 0 && l.shape[i] > 1) throw error("not repeat elements", "a broadcast view");
  if (l.read_only) throw error("be writable", "a read-only view");
  throw error("not have elements that share memory", "windows that overlap");
}

Array unwritten(Array made) {
  Building op;
  (*op).add(made.storage(), Mode::write);
  (*op).emplace<NothingKernel>();
  op.issue(device_of(made));
  return made;
}

Array copied(const Array& from, DType t, int device) {
  Array to = Array::make(t, from.layout.shape, budget_of(device));
  Building op;
  build_copy(*op, from, to);
  op.issue(device, device == device_of(from) ? Queue::Kind::compute : Queue::Kind::copy);
  return to;
}

namespace {

nb::object cast(nb::handle a, nb::handle dtype) {
  const Array& from = arg("astype", a);
  return wrapped_like(a, copied(from, parse_dtype("astype", dtype.ptr()), device_of(from)));
}

nb::object copy(nb::handle a, nb::handle device, bool queue) {
  const Array& from = arg("copy", a);
  int d = device.is_none() ? device_of(from) : device_index("copy", device);
  if (!queue) return wrapped_like(a, copied(from, from.layout.dtype, d));
  Array to = Array::make(from.layout.dtype, from.layout.shape, budget_of(d));
  Building op;
  build_copy(*op, from, to);
  op.issue(d, Queue::Kind::copy);
  return wrapped_like(a, std::move(to));
}

nb::object clock(nb::handle after) {
  std::vector<Array> arrays = args("clock", after);
  if (arrays.empty()) throw Error(ErrorKind::value, "clock: there must be arrays, got none");
  int device = device_of(arrays[0]);
  Array time = Array::make(DType::f64, {}, budget_of(device));
  Building op;
  (*op).add(time.storage(), Mode::write);
  for (const Array& a : arrays) (*op).add(a.storage(), Mode::read);
  (*op).emplace<ClockKernel>();
  op.issue(device);
  return wrapped(std::move(time));
}

void assign(nb::handle to_object, nb::handle value) {
  const Array& to = writable("assign", get_writable("assign", to_object.ptr()));
  Building op;
  if (is_array(value.ptr())) {
    const Array& from = arg("assign", value);
    if (from.same_elements(to)) return;  // `x[i] += y` ends so
    build_copy(*op, from, to);
    op.issue(device_of(to), exchanging || device_of(from) == device_of(to) ? Queue::Kind::compute : Queue::Kind::copy);
    return;
  }
  Scalar scalar{};
  if (!put_scalar("assign", value.ptr(), to.layout.dtype, scalar.bytes)) throw nb::python_error();
  build_fill(*op, scalar, to);
  op.issue(device_of(to));
}

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

// The same bytes as elements of another dtype; the last axis gets longer or shorter where their size is another.
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

// Strides of `layout` seen with another shape of the same size, if that needs no copy (NumPy's rule: axes are split or
// merged only where memory is regular).
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

nb::object read_only(Array array) {
  array.layout.read_only = true;
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

nb::object as_scalar(nb::handle a) {
  if (arg("scalar", a).layout.ndim() == 0) become(a.ptr(), true);
  return nb::borrow(a);
}

nb::object turned_array(nb::handle a) {
  const Array& array = arg("array", a);
  if (!is_scalar(a.ptr())) return nb::borrow(a);
  if (!array.storage()->has_one_handle())
    as_array(a.ptr())->array = copied(array, array.layout.dtype, device_of(array));
  become(a.ptr(), false);
  return nb::borrow(a);
}

}  // namespace

void init_arrays(nb::module_& m) {
  m.def("from_numpy", from_numpy, nb::arg("values"), nb::arg("device").none() = nb::none(),
        "An array with a copy of the values, made now.");
  m.def(
      "taken",
      [](nb::handle values, nb::handle device) { return wrapped(taken(values.ptr(), device_index("array", device))); },
      nb::arg("values"), nb::arg("device").none() = nb::none(),
      "The same of an array that nobody else has: its memory may become ours.");
  m.def("scalars", scalars, nb::arg("values"), nb::arg("dtype"), nb::arg("device"),
        "An array of a few floats, made now.");
  m.def("empty", empty, nb::arg("shape"), nb::arg("dtype"), nb::arg("device").none() = nb::none());
  m.def("full", full, nb::arg("shape"), nb::arg("value"), nb::arg("dtype"), nb::arg("device").none() = nb::none());
  m.def("cast", cast);
  m.def("clock", clock, nb::arg("after"),
        "An array with the time, as `time.perf_counter` has it, when all of these arrays are there.");
  m.def("copy", copy, nb::arg("a"), nb::arg("device").none() = nb::none(), nb::arg("queue") = false,
        "queue: on the copy queue in any case.");
  m.def("assign", assign);
  m.def("view", view, nb::arg("a"), nb::arg("shape"), nb::arg("strides"), nb::arg("offset") = 0);
  m.def("reinterpret", reinterpret, nb::arg("a"), nb::arg("dtype"), "A view of the same bytes with another dtype.");
  m.def("part", part, nb::arg("a"), nb::arg("imaginary"),
        "A view of the real or the imaginary parts of complex numbers.");
  m.def("reshape", reshape);
  m.def("transpose", transpose);
  m.def("broadcast_to", broadcast_view);
  m.def(
      "read_only", [](nb::handle a) { return read_only(arg("view", a)); }, nb::arg("a"),
      "The array as a view that is not to be written to, nor what views are made of it.");
  m.def("is_writable", [](nb::handle a) { return arg("flags", a).writable(); }, nb::arg("a"));
  m.def("getitem", getitem, nb::arg("a"), nb::arg("index").none(),
        "The view that a basic index selects, also of one element.");
  m.def("read", read, nb::arg("a"), nb::arg("index").none(),
        "The same, but a scalar where integers alone name one element.");
  m.def("is_scalar", [](nb::handle o) { return is_scalar(o.ptr()); });
  m.def("as_scalar", as_scalar, nb::arg("a"),
        "The same object, a scalar from now on if it has no axes. Nobody else may know its storage.");
  m.def("as_array", turned_array, nb::arg("a"),
        "The same object, an array from now on if it is a scalar, with values of its own.");
}

}  // namespace forerun
