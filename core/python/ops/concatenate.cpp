// Arrays joined along an axis, for Python.
#include <cstdint>
#include <utility>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "engine/graph/memory_budget.h"
#include "python/arguments.h"
#include "python/bindings.h"
#include "python/runtime/devices.h"
#include "python/runtime/submit.h"

namespace forerun {

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
    bool fits = a.layout.ndim() == first.ndim() && a.layout.dtype == first.dtype;
    for (int i = 0; fits && i < first.ndim(); ++i) fits = i == at || a.layout.shape[i] == first.shape[i];
    if (!fits)
      throw Error(ErrorKind::value, "concatenate: arrays must agree in dtype and all axes but one, got " +
                                        to_string(first.shape) + " and " + to_string(a.layout.shape));
    shape[at] += a.layout.shape[at];
  }
  Array out = Array::make(first.dtype, shape, budget_of(device_of(arrays[0])));
  Building op;
  build_concatenate(*op, arrays, at, out);
  op.issue(device_of(arrays[0]));
  return wrapped(std::move(out));
}

}  // namespace

void init_concatenate(nb::module_& m) { m.def("concatenate", concatenate, nb::arg("arrays"), nb::arg("axis") = 0); }

}  // namespace forerun
