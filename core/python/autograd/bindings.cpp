// The tape's switches, for Python.
#include <cstdint>
#include <utility>
#include <vector>

#include "array/array.h"
#include "engine/engine.h"
#include "python/autograd/leaf.h"
#include "python/bindings.h"
#include "python/dispatch/loops/promotion.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/node.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"
#include "python/runtime/wait.h"

namespace forerun {

namespace {

void record_call(nb::handle op, nb::tuple inputs, nb::tuple outputs, nb::object attrs, unsigned save) {
  if (!recording) return;
  bool any = false;
  for (nb::handle o : inputs) any = any || on_tape(o.ptr());
  if (!any) return;
  std::vector<PyObject*> in, out;
  for (nb::handle o : inputs) in.push_back(o.ptr());
  for (nb::handle o : outputs) out.push_back(o.ptr());
  if (!record(op.ptr(), in.data(), static_cast<Py_ssize_t>(in.size()), out.data(), static_cast<Py_ssize_t>(out.size()),
              attrs.ptr(), save))
    throw nb::python_error();
}

// For each leaf a number that changes whenever its gradient has received a part, or been written to.
nb::list gradient_versions(nb::handle leaves) {
  nb::list versions;
  for (nb::handle leaf : leaves) {
    PyObject* node = is_array(leaf.ptr()) ? as_array(leaf.ptr())->node : nullptr;
    if (!node || !PyObject_TypeCheck(node, leaf_type))
      throw Error(ErrorKind::type, "gradient_versions: arrays must be leaves of the tape, got one that is not");
    const LeafObject* variable = as_leaf(node);
    versions.append(uint64_t{variable->received} << 32 |
                    arg("gradient_versions", variable->grad).storage()->issued.load());
  }
  return versions;
}

}  // namespace

void init_tape(Module& m) {
  m.def("recording", [] { return recording; });
  m.def("set_recording", [](bool on) { return std::exchange(recording, on); });
  m.def(
      "set_tracing", [](bool on) { return std::exchange(tracing, on); },
      "Sets whether the tape records all operations of this thread on arrays that are on it, with all values. Returns "
      "the former setting.");
  m.def("tracing", [] { return tracing; });
  m.def("training", [] { return training; });
  m.def("set_training", [](bool on) { return std::exchange(training, on); });
  m.def(
      "set_in_collective", [](bool on) { return std::exchange(in_collective, on); },
      "Whether this thread's operations are part of an exchange between devices: they may read others' arrays, and go "
      "first. Returns how it was.");
  m.def("record", record_call, nb::arg("op"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("attrs").none(),
        nb::arg("save"));
  m.def("detach", [](nb::handle a) { return wrapped_like(a, arg("detach", a)); });
  m.def(
      "empty_handle",
      [](nb::handle a) {
        nb::object made = wrapped(Array(nullptr, as_array(a.ptr())->array.layout));
        as_array(made.ptr())->device = as_array(a.ptr())->device;
        return made;
      },
      nb::arg("a"), "An array like `a`, of the same device, without value.");
  m.def("has_value", [](nb::handle a) { return as_array(a.ptr())->array.storage() != nullptr; });
  m.def(
      "place",
      [](nb::handle o) {
        const Array& a = arg("place", o);
        return nb::make_tuple(reinterpret_cast<uintptr_t>(a.storage()), a.layout.offset,
                              static_cast<int>(a.layout.dtype), to_string(a.layout.shape), to_string(a.layout.strides));
      },
      nb::arg("a"), "The identity of an array's elements, equal for all handles of them.");
  m.def("shares_storage", [](nb::handle a, nb::handle b) {
    return arg("shares_storage", a).storage() == arg("shares_storage", b).storage();
  });
  m.def("version", [](nb::handle a) { return arg("version", a).storage()->issued.load(); });
  m.def("gradient_versions", gradient_versions);
  m.def("is_poisoned", [](nb::handle o) {
    const Array& a = arg("is_poisoned", o);
    while (!a.storage()->settled()) wait_mark(Engine::get().ring.next());
    return a.failure() != nullptr;
  });

  m.def("set_promotion", set_promotions, nb::arg("table"),
        "The rule for dtypes: per dtype a row of the numbers that it gives with each.");
  m.def(
      "bfloat16", [] { return nb::borrow<nb::object>(bfloat16()); }, "Its numpy.dtype. ImportError without ml_dtypes.");
  m.def("set_defaults", [](nb::handle dtype, bool ints) {
    default_float = parse_dtype("set_defaults", dtype.ptr()), ints_become_floats = ints;
  });
  m.def(
      "set_default_device", [](int device) { default_device = device; },
      "Of this thread; those that do not exist are the first one.");
}

}  // namespace forerun
