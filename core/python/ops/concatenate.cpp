// Arrays joined along an axis, for Python.
#include <cstdint>
#include <utility>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/runtime/submission/arguments.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

Error unlike(const std::string& wanted, const Layout& a, const Layout& b) {
  return Error(ErrorKind::value,
               "concatenate: arrays must " + wanted + ", got " + to_string(a.shape) + " and " + to_string(b.shape));
}

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
  Array out = Array::make(first.dtype, shape, budget_of(device_of(arrays[0])));
  Building op;
  build_concatenate(*op, arrays, at, out);
  op.issue(device_of(arrays[0]));
  return wrapped(std::move(out));
}

}  // namespace

void init_concatenate(Module& m) { m.def("concatenate", concatenate, nb::arg("arrays"), nb::arg("axis") = 0); }

}  // namespace forerun
