// Recurrent layers of float32 and float64: all steps of a sequence in one op, for one layer in one direction.
#pragma once
#include "array/array.h"

namespace forerun {

// The rules, with their gates in the order of the rows of weights:
//   tanh, relu  h' = f(x + U h + b)
//   lstm        gates i, f, n, o: c' = s(f) c + s(i) tanh(n), h' = s(o) tanh(c')
//   gru         gates r, z, n: h' = n' + s(z) (h - n'), n' = tanh(x_n + s(r) (U h + b)_n)
enum class Rule : uint8_t { tanh, relu, lstm, gru };

struct Recurrence {
  Rule rule = Rule::tanh;
  bool reversed = false;  // from the last step to the first
  int64_t steps = 0, batch = 0, units = 0;

  int64_t gates() const { return rule == Rule::lstm ? 4 : rule == Rule::gru ? 3 : 1; }
  int64_t kept() const {
    return rule == Rule::lstm || rule == Rule::gru ? 4 : 0;
  }  // of each unit and step: the gates; for a gru also (U h + b)_n
};

// All arrays are dense and not empty, of one dtype. Arrays that a rule does not have are null, and so are states that
// are zeros.

// Packs U for the products with the states, or with their gradients: an operand of the ops below, which also accept U
// itself, as devices require. w (gates * units, units) is U, packed (rnn_packed_size(),).
int64_t rnn_packed_size(const Recurrence& what, bool back);
void build_rnn_pack(Op& op, const Recurrence& what, bool back, const Array& w, const Array& packed);

// x (steps, batch, gates * units): the contributions of the inputs to the gates. h, c (batch, units): the initial
// states; u: U packed, b (gates * units,). Results: y (steps, batch, units), of an lstm also its cells in the same
// shape, and for the gradient `kept` (steps, batch, kept * units).
struct RecurArrays {
  const Array *x, *h, *c, *u, *b, *y, *cells, *kept;
};
void build_rnn(Op& op, const Recurrence& what, const RecurArrays& arrays);

// From the gradients of y and of the last cells, gy and gc, the gradients of x and of the states. u: U packed for the
// gradient; gu: the gradient of U h + b, for a gru; otherwise it equals gx.
struct RecurBackArrays {
  const Array *gy, *gc, *h, *c, *u, *y, *cells, *kept, *gx, *gh, *gc0, *gu;
};
void build_rnn_back(Op& op, const Recurrence& what, const RecurBackArrays& arrays);

}  // namespace forerun
