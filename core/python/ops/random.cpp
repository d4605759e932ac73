#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/random/random.h"
#include "cpu/kernels/scalar.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/python_scalars.h"
#include "python/runtime/submission/arguments.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/random_keys.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

// --- random numbers: a stream is (seed, number of the op) ------------------------------------------------------------

void draws_on_host() {
  if (capture) capture->refuse("it draws random numbers on the host, or from a stream of its own");
}

// With a stream of the caller's, (its seed, number of the op in it), the numbers would be the same in each run of a
// program: so the op cannot be captured.
nb::object random(std::string_view kind, nb::handle shape, nb::handle dtype, nb::handle device, nb::handle lo,
                  nb::handle hi, nb::handle stream) {
  DType t = parse_dtype("random", dtype.ptr());
  int d = device_index("random", device);
  Distribution what = kind == "uniform"       ? Distribution::uniform
                      : kind == "normal"      ? Distribution::normal
                      : kind == "exponential" ? Distribution::exponential
                                              : Distribution::integers;
  if (what == Distribution::integers ? !(is_integer(t) || t == DType::b1) : t != DType::f32 && t != DType::f64)
    throw Error(ErrorKind::type,
                "random: dtype must suit the distribution, got " + std::string(kind) + " of " + name(t));
  double a = 0, b = 1;
  int64_t low = 0;
  uint64_t range = 0;
  if (what == Distribution::integers) {
    Scalar first{}, last{};
    nb::object end = checked(PyNumber_Subtract(hi.ptr(), checked(PyLong_FromLong(1)).ptr()));
    if (!put_scalar("integers", lo.ptr(), t, first.bytes) || !put_scalar("integers", end.ptr(), t, last.bytes))
      throw nb::python_error();
    nb::object width = checked(PyNumber_Subtract(end.ptr(), lo.ptr()));
    range = PyLong_AsUnsignedLongLong(width.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      throw Error(ErrorKind::value, "integers: low must be below high, got " + nb::cast<std::string>(nb::str(lo)) +
                                        " and " + nb::cast<std::string>(nb::str(hi)));
    }
    low = static_cast<int64_t>(PyLong_AsUnsignedLongLongMask(lo.ptr()));
  } else {
    a = nb::cast<double>(lo), b = nb::cast<double>(hi);
    if (what != Distribution::uniform && b < 0)
      throw Error(ErrorKind::value, std::string(kind) + ": scale must not be negative, got " + std::to_string(b));
  }
  Array out = Array::make(t, parse_dims("random", shape.ptr()), budget_of(d));
  uint64_t from = random_keys.seed, number = 0;
  if (stream.is_none()) {
    number = random_keys.next++;
  } else {
    draws_on_host();
    from = nb::cast<uint64_t>(stream[0]), number = nb::cast<uint64_t>(stream[1]);
  }
  Building op;
  build_random(*op, what, from, number, a, b, low, range, out);
  op.issue(d);
  return wrapped(std::move(out));
}

}  // namespace

void init_random(Module& m) {
  m.def(
      "random",
      [](const char* kind, nb::handle shape, nb::handle dtype, nb::handle device, nb::handle lo, nb::handle hi,
         nb::handle stream) { return random(kind, shape, dtype, device, lo, hi, stream); },
      nb::arg("kind"), nb::arg("shape"), nb::arg("dtype"), nb::arg("device").none(), nb::arg("lo"), nb::arg("hi"),
      nb::arg("stream") = nb::none());
  m.def("random_key", [] { return draws_on_host(), random_keys.next++; });
  m.def("random_seed", [] { return random_keys.seed; });
  m.def("random_drawn", [] { return random_keys.next; });  // how many ops have drawn since then
  m.def(
      "seed", [](uint64_t s, uint64_t drawn) { draws_on_host(), random_keys = {s, drawn}; }, nb::arg("value"),
      nb::arg("drawn") = 0);
}

}  // namespace forerun
