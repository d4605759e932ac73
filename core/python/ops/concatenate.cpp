#include "python/ops/concatenate.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "array/array.h"
#include "base/rounding.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/copy/repeat.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/object/create.h"
#include "python/runtime/submission/arguments.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

Error unlike(const std::string& wanted, const Layout& a, const Layout& b) {
  return Error(ErrorKind::value,
               "concatenate: arrays must " + wanted + ", got " + to_string(a.shape) + " and " + to_string(b.shape));
}

}  // namespace

Array concatenated(const std::vector<Array>& arrays, int axis, const Dims& shape, int device, Joined order) {
  std::vector<const Layout*> layouts;
  if (order == Joined::in_order_of_axes)
    for (const Array& a : arrays) layouts.push_back(&a.layout);
  const DType t = arrays[0].layout.dtype;
  const Layout layout = result_layout(t, shape, layouts.data(), static_cast<int>(layouts.size()), device);
  Array out = Array::make(layout, budget_of(device));
  Building op;
  build_concatenate(*op, arrays, axis, out);
  op.issue(device);
  return out;
}

namespace {

nb::object concatenate(nb::handle sequence, int64_t axis) {
  std::vector<Array> arrays = args("concatenate", sequence);
  if (arrays.empty()) throw Error(ErrorKind::value, "concatenate: there must be at least one array, got none");
  const Layout& first = arrays[0].layout;
  int at = normal_axis("concatenate", axis, first.ndim());
  Dims shape = first.shape;
  shape[at] = 0;
  for (const Array& a : arrays) {
    same_device("concatenate", arrays[0], a);
    if (a.layout.dtype != first.dtype) throw Error(ErrorKind::type, "concatenate: arrays must have one dtype");
    if (a.layout.ndim() != first.ndim()) throw unlike("have as many axes as each other", first, a.layout);
    for (int i = 0; i < first.ndim(); ++i)
      if (i != at && a.layout.shape[i] != first.shape[i])
        throw unlike("have equal extents along axis " + std::to_string(i), first, a.layout);
    shape[at] += a.layout.shape[at];
  }
  return wrapped(concatenated(arrays, at, shape, device_of(arrays[0])));
}

// The rows a[:, i, :], each as often as counts[i] says. before: as build_repeat() takes it.
nb::object repeat(nb::handle a, nb::handle counts, std::vector<int64_t> before, int64_t piece) {
  const Array &given = arg("repeat", a), &times = arg("repeat", counts);
  const Dims& shape = given.layout.shape;
  const int device = device_of(given);
  if (given.layout.ndim() != 3 || !times.layout.contiguous() || piece < 1 || times.layout.dtype != DType::i64 ||
      times.layout.size != shape[1] || shape[1] == 0 ||
      static_cast<int64_t>(before.size()) != 1 + ceil_div(shape[1], piece))
    throw Error(ErrorKind::value, "repeat: counts must be dense and fit the array");
  const Array from = given.layout.contiguous() ? given : copied(given, given.layout.dtype, device);
  Array out = Array::make(from.layout.dtype, Dims{shape[0], before.back(), shape[2]}, budget_of(device));
  Building op;
  build_repeat(*op, from, times, std::move(before), piece, out);
  op.issue(device);
  return wrapped(std::move(out));
}

}  // namespace

void init_concatenate(Module& m) {
  m.def("concatenate", concatenate, nb::arg("arrays"), nb::arg("axis") = 0);
  m.def("repeat", repeat, nb::arg("a"), nb::arg("counts"), nb::arg("before"), nb::arg("piece"));
}

}  // namespace forerun
