// Reductions and scans: a binary ufunc's loop with an output stride of zero, or with the previous output as an input.
#pragma once
#include "array/array.h"
#include "cpu/kernels/scalar.h"
#include "cpu/loops/loop.h"

namespace forerun {

// A binary ufunc that reduces: its name, that of the op, and its loop. The names outlive the op.
struct Combination {
  const char *ufunc, *name;
  Loop loop;
};

// The lines along an axis of an array, and of its results: their steps in bytes, and the other axes.
struct AxisLines {
  void set(const Layout& in, const Layout& out, int axis);

  int64_t n = 0;  // elements of a line of the array
  intptr_t in_step = 0, out_step = 0;
  Dims outer, outer_in, outer_out;
};

// out = reduction of `in` over the axes marked in `reduced` (one flag per axis of `in`). `out` has the kept axes in
// order (without the ones of keepdims: the caller makes the view) and the loop's dtype; `in` is cast to it tile by
// tile. `identity` is the result of an empty reduction and the start of others; null: start from the first element
// (then no reduced axis may be empty). `neutral`: a value that leaves every value unchanged, except -0.0 in a sum of
// only such; null: there is no such value.
void build_reduce(Op& op, const Combination& how, const Array& in, const bool* reduced, const Scalar* identity,
                  const Scalar* neutral, const Array& out);

// out[..., i, ...] = reduction of in[..., :i+1, ...] along `axis`; out has the loop's dtype and in's shape.
void build_scan(Op& op, const Combination& how, const Array& in, int axis, const Array& out);

}  // namespace forerun
