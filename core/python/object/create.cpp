// Creating, copying and viewing arrays, for Python.
#include "python/object/create.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "array/axis_order.h"
#include "base/readable_size.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/copy/zeros.h"
#include "cpu/kernels/scalar.h"
#include "device/op_spec.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/conversion/numpy_memory.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/scalar.h"
#include "python/runtime/submission/arguments.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

// ns, about, that the system takes to provide memory: more than for ops that run in the call, so that the memory is
// allocated in program order.
constexpr uint32_t kFreshMemory = 5000;
constexpr int64_t kMostZeroed = int64_t{64} << 20;  // maximum size of an array whose pages a call requests again

// Declares a new array's memory as written, without changing it.
class NothingKernel final : public Kernel {
 public:
  const char* name() const override { return "empty"; }
  void run(Op&, int64_t) override {}
  bool describe(Op& op, OpSpec& spec) const override {  // devices have no uninitialised memory
    const Storage& storage = *op.access(0).storage;
    const auto dtype = storage.form.dtype == DebugShape::kNone ? DType::u8 : static_cast<DType>(storage.form.dtype);
    spec.kind = "zeros";
    spec.output(0, Layout::dense(dtype, {static_cast<int64_t>(storage.bytes / item_size(dtype))}));
    return true;
  }
  bool copy_to(Op& op) const override { return op.copy(*this); }
};

// Writes the time at which it runs: when all of its inputs are computed. Element 0 is the time.
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

// The shape, after checking that the device may hold such an array.
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
    throw Error(ErrorKind::memory, std::string(op) + ": array must fit into memory, asked for " + readable_size(bytes) +
                                       " with " + readable_size(static_cast<double>(budget_of(device)->live.load())) +
                                       " live and a limit of " + readable_size(static_cast<double>(limit)));
  return dims;
}

nb::object from_numpy(nb::handle values, nb::handle device) {
  return wrapped(from_object("array", values.ptr(), device_index("array", device)));
}

nb::object scalars(nb::handle numbers, nb::handle dtype, nb::handle device) {
  auto values = list_of<double>(numbers);
  DType t = parse_dtype("scalars", dtype.ptr());
  const int d = device_index("scalars", device);
  Array made = Array::make(t, Dims{static_cast<int64_t>(values.size())}, host_budget_of(d));
  if (!made.storage()->take()) throw std::bad_alloc();
  made.storage()->materialized = true;
  char* to = made.storage()->data();
  for (double v : values) {
    nb::object value = checked(PyFloat_FromDouble(v));
    if (!put_scalar("scalars", value.ptr(), t, reinterpret_cast<unsigned char*>(to))) throw nb::python_error();
    to += item_size(t);
  }
  return wrapped(device_of(made) == d ? std::move(made) : copied(made, t, d));
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

Array filled_array(const Dims& shape, DType t, const Scalar& value, int device) {
  const int64_t bytes = product(shape) * static_cast<int64_t>(item_size(t));
  const bool zero = std::all_of(value.bytes, value.bytes + item_size(t), [](unsigned char b) { return b == 0; });
  if (zero && bytes >= kPagesOfZeros && bytes <= kMostZeroed && may_work_at_once() && Engine::get().ring.idle()) {
    if (Array made = made_at_once(t, shape, device); made.storage()) {
      write_zeros(made.storage()->data(), static_cast<size_t>(bytes));
      written_at_once(made);
      return made;
    }
  }
  Array made = Array::make(t, shape, budget_of(device));
  Building op;
  zero&& bytes >= kPagesOfZeros ? build_zeros(*op, made) : build_fill(*op, value, made);
  op.issue(device);
  return made;
}

Layout result_layout(DType t, const Dims& shape, const Layout* const* operands, int n, int device) {
  const bool in_c = shape.size() < 2 || budget_of(device)->accelerator ||
                    std::all_of(operands, operands + n, [](const Layout* operand) { return operand->contiguous(); });
  return in_c ? Layout::dense(t, shape) : AxisOrder(shape.size(), operands, n).dense(t, shape);
}

std::optional<AxisOrder> order_of(const Array& array) {
  if (array.layout.ndim() < 2 || array.layout.contiguous() || budget_of(device_of(array))->accelerator) return {};
  const AxisOrder order(array.layout);
  return order.is_c() ? std::nullopt : std::optional(order);
}

Array unwritten(Array made) {
  Building op;
  (*op).add(made.storage(), Mode::write);
  (*op).cost = kFreshMemory;
  (*op).emplace<NothingKernel>();
  op.issue(device_of(made));
  return made;
}

namespace {

// Copies few elements now. No storage: an operation must do it.
Array copied_at_once(const Array& from, const Layout& dense, int device) {
  const bool few = static_cast<size_t>(from.layout.nbytes()) <= kFilledAtOnce && device == device_of(from);
  const char* values = few && may_work_at_once() ? values_at_once(from) : nullptr;
  Array made = values ? made_at_once(dense, device) : Array();
  if (!made.storage()) return {};
  copy_elements(from.layout, values, made.layout, made.storage()->data());
  written_at_once(made);
  return made;
}

Array copied(const Array& from, const Layout& dense, int device) {
  if (Array made = copied_at_once(from, dense, device); made.storage()) return made;
  Array to = Array::make(dense, budget_of(device));
  Building op;
  build_copy(*op, from, to);
  op.issue(device, device == device_of(from) ? Queue::Kind::compute : Queue::Kind::copy);
  return to;
}

}  // namespace

Array copied(const Array& from, DType t, int device) {
  return copied(from, Layout::dense(t, from.layout.shape), device);
}

Array copied_like(const Array& from, DType t) {
  const int device = device_of(from);
  const Layout* like = &from.layout;
  return copied(from, result_layout(t, like->shape, &like, 1, device), device);
}

namespace {

nb::object cast(nb::handle a, nb::handle dtype) {
  const Array& from = arg("astype", a);
  return wrapped_like(a, copied_like(from, parse_dtype("astype", dtype.ptr())));
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
    if (from.same_elements(to)) return;  // the final step of `x[i] += y`
    build_copy(*op, from, to);
    op.issue(device_of(to),
             in_collective || device_of(from) == device_of(to) ? Queue::Kind::compute : Queue::Kind::copy);
    return;
  }
  Scalar scalar{};
  if (!put_scalar("assign", value.ptr(), to.layout.dtype, scalar.bytes)) throw nb::python_error();
  build_fill(*op, scalar, to);
  op.issue(device_of(to));
}

}  // namespace

void init_create(Module& m) {
  m.def("from_numpy", from_numpy, nb::arg("values"), nb::arg("device").none() = nb::none(),
        "An array with a copy of the values, made now.");
  m.def(
      "taken",
      [](nb::handle values, nb::handle device) { return wrapped(taken(values.ptr(), device_index("array", device))); },
      nb::arg("values"), nb::arg("device").none() = nb::none(),
      "The same of an array without other references: its memory may be taken over.");
  m.def(
      "numpy_alias", [](nb::handle a) { return checked(numpy_alias(get_array("numpy_alias", a.ptr()))); }, nb::arg("a"),
      "NumPy's array on the memory of a: from now on, each of the two sees writes to the other.");
  m.def(
      "shared_with_numpy",
      [](nb::handle values) {
        Array made = shared_with_numpy(values.ptr(), device_index("array", nb::none()));
        return made.storage() ? wrapped(std::move(made)) : nb::none();
      },
      nb::arg("values"),
      "An array on the memory of NumPy's: each of the two sees writes to the other. None: it needs a copy.");
  m.def("scalars", scalars, nb::arg("values"), nb::arg("dtype"), nb::arg("device"),
        "An array of a few floats, made now.");
  m.def("empty", empty, nb::arg("shape"), nb::arg("dtype"), nb::arg("device").none() = nb::none());
  m.def("full", full, nb::arg("shape"), nb::arg("value"), nb::arg("dtype"), nb::arg("device").none() = nb::none());
  m.def("cast", cast);
  m.def("clock", clock, nb::arg("after"),
        "An array with the time, as `time.perf_counter` has it, when all of these arrays are computed.");
  m.def("copy", copy, nb::arg("a"), nb::arg("device").none() = nb::none(), nb::arg("queue") = false,
        "queue: on the copy queue in any case.");
  m.def("assign", assign);
}

}  // namespace forerun
