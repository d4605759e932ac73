// Fourier transforms, for Python: loops of NumPy's generalized ufuncs along one axis.
#include <cstdint>
#include <string>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/scalar.h"
#include "cpu/kernels/signal/line_loop.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/object/array_arguments.h"
#include "python/object/conversion/python_scalars.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

nb::object transform(nb::handle ufunc, const std::string& op_name, nb::handle x_object, int axis, int64_t m,
                     nb::handle factor, int64_t per_line) {
  const char* name = intern(op_name.c_str());
  const Array& x = arg(name, x_object);
  const LineLoop* loop = line_loop(ufunc.ptr(), x.layout.dtype);
  if (!loop)
    throw Error(ErrorKind::type, op_name + ": dtype must have a loop of NumPy's, got " + forerun::name(x.layout.dtype));
  Scalar scale;
  if (!put_scalar(name, factor.ptr(), loop->factor, scale.bytes)) throw nb::python_error();
  Dims shape = x.layout.shape;
  shape[axis] = m;
  const int device = device_of(x);
  Array out = Array::make(loop->out, shape, budget_of(device));
  Building op;
  build_line_loop(*op, name, *loop, x, axis, scale, per_line, out);
  op.issue(device);
  return wrapped(std::move(out));
}

}  // namespace

void init_fft(Module& m) {
  m.def("transform", transform, nb::arg("ufunc"), nb::arg("op"), nb::arg("x"), nb::arg("axis"), nb::arg("m"),
        nb::arg("factor"), nb::arg("per_line"),
        "ufunc(x, factor) along an axis, to m elements, for a generalized ufunc of NumPy's with the signature "
        "(n),()->(m). "
        "per_line: about how many ns a line takes.");
}

}  // namespace forerun
