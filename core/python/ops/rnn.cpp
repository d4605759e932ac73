// Recurrent layers, for Python.
#include <cstdint>
#include <string_view>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/rnn/rnn.h"
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

Recurrence recurrence(const char* rule, bool reversed, const Dims& y) {
  std::string_view name = rule;
  Recurrence what;
  what.rule = name == "lstm" ? Rule::lstm : name == "gru" ? Rule::gru : name == "relu" ? Rule::relu : Rule::tanh;
  what.reversed = reversed;
  what.steps = y[0], what.batch = y[1], what.units = y[2];
  return what;
}

// Operands of one op: on one device, of one dtype, dense, of the required shapes.
class Operands {
 public:
  explicit Operands(const Array& first) : dtype_(first.layout.dtype), device_(device_of(first)) {
    check_has_kernels("rnn", dtype_);
  }
  Array given(nb::handle object, const Dims& shape) const {
    const Array& a = arg("rnn", object);
    if (a.layout.dtype != dtype_ || device_of(a) != device_)
      throw Error(ErrorKind::value, "rnn: operands must be on one device, of one dtype");
    if (!(a.layout.shape == shape))
      throw Error(ErrorKind::value,
                  "rnn: operand must have shape " + to_string(shape) + ", got " + to_string(a.layout.shape));
    return dense(a);
  }
  Array given_or_none(nb::handle object, const Dims& shape) const {
    return object.is_none() ? Array() : given(object, shape);
  }
  Array made(const Dims& shape) const { return Array::make(dtype_, shape, budget_of(device_)); }
  int device() const { return device_; }

 private:
  DType dtype_;
  int device_;
};

// An optional array of a rule; null if it is absent.
const Array* if_any(const Array& a) { return a.storage() ? &a : nullptr; }
nb::object result(Array& a) { return a.storage() ? wrapped(std::move(a)) : nb::none(); }

// The matrix of the states, packed; on an accelerator unchanged.
Array packed(const Operands& all, const Recurrence& what, bool back, const Array& w) {
  if (!on_host(w)) return w;
  Array u = all.made({rnn_packed_size(what, back)});
  Building op;
  build_rnn_pack(*op, what, back, w, u);
  op.issue(all.device());
  return u;
}

Dims with_width(const Dims& shape, int64_t width) { return {shape[0], shape[1], width}; }

nb::object rnn(const char* rule, bool reversed, nb::handle x_object, nb::handle h_object, nb::handle c_object,
               nb::handle w_object, nb::handle b_object) {
  const Array &first = arg("rnn", x_object), &matrix = arg("rnn", w_object);
  if (first.layout.ndim() != 3 || matrix.layout.ndim() != 2 || first.layout.size == 0 || matrix.layout.size == 0)
    throw Error(ErrorKind::value,
                "rnn: operands must be (steps, batch, gates * units) and (gates * units, units), got " +
                    to_string(first.layout.shape) + " and " + to_string(matrix.layout.shape));
  Operands all(first);
  Recurrence what = recurrence(rule, reversed, with_width(first.layout.shape, matrix.layout.shape[1]));
  int64_t n = what.units, g = what.gates() * n;
  Dims states{what.batch, n}, outputs{what.steps, what.batch, n};
  Array x = all.given(x_object, with_width(outputs, g)), h = all.given_or_none(h_object, states),
        c = all.given_or_none(c_object, states), w = all.given(w_object, {g, n}), b = all.given(b_object, {g});
  Array u = packed(all, what, false, w), y = all.made(outputs), cells, kept;
  if (what.rule == Rule::lstm) cells = all.made(outputs);
  if (what.kept()) kept = all.made(with_width(outputs, what.kept() * n));
  Building op;
  build_rnn(*op, what, {&x, if_any(h), if_any(c), &u, &b, &y, if_any(cells), if_any(kept)});
  op.issue(all.device());
  return nb::make_tuple(wrapped(std::move(y)), result(cells), result(kept));
}

nb::object rnn_back(const char* rule, bool reversed, nb::handle gy_object, nb::handle gc_object, nb::handle h_object,
                    nb::handle c_object, nb::handle w_object, nb::handle y_object, nb::handle cells_object,
                    nb::handle kept_object) {
  const Array& first = arg("rnn", y_object);
  if (first.layout.ndim() != 3 || first.layout.size == 0)
    throw Error(ErrorKind::value, "rnn: results must be (steps, batch, units), got " + to_string(first.layout.shape));
  Operands all(first);
  const Dims& outputs = first.layout.shape;
  Recurrence what = recurrence(rule, reversed, outputs);
  int64_t n = what.units, g = what.gates() * n;
  Dims states{what.batch, n};
  Array gy = all.given(gy_object, outputs), gc = all.given_or_none(gc_object, states),
        h = all.given_or_none(h_object, states), c = all.given_or_none(c_object, states);
  Array w = all.given(w_object, {g, n}), y = all.given(y_object, outputs), cells, kept;
  if (what.rule == Rule::lstm) cells = all.given(cells_object, outputs);
  if (what.kept()) kept = all.given(kept_object, with_width(outputs, what.kept() * n));
  Array u = packed(all, what, true, w), gx = all.made(with_width(outputs, g)), gh, gc0, gu;
  if (h.storage()) gh = all.made(states);
  if (c.storage()) gc0 = all.made(states);
  if (what.rule == Rule::gru) gu = all.made(with_width(outputs, g));
  Building op;
  build_rnn_back(*op, what,
                 {&gy, if_any(gc), if_any(h), if_any(c), &u, &y, if_any(cells), if_any(kept), &gx, if_any(gh),
                  if_any(gc0), if_any(gu)});
  op.issue(all.device());
  return nb::make_tuple(wrapped(std::move(gx)), result(gh), result(gc0), result(gu));
}

}  // namespace

void init_rnn(Module& m) {
  m.def("rnn", rnn, nb::arg("rule"), nb::arg("reversed"), nb::arg("x"), nb::arg("h").none(), nb::arg("c").none(),
        nb::arg("w"), nb::arg("b"),
        "A recurrent layer over all steps: (results, cells or None, values for the gradient or None). States that are "
        "None are zeros.");
  m.def("rnn_back", rnn_back, nb::arg("rule"), nb::arg("reversed"), nb::arg("gy"), nb::arg("gc").none(),
        nb::arg("h").none(), nb::arg("c").none(), nb::arg("w"), nb::arg("y"), nb::arg("cells").none(),
        nb::arg("kept").none(),
        "Its gradients: of x, of the states that are given, and of w @ h + b where that is not x's; else None.");
}

}  // namespace forerun
