// Reductions and scans: a binary ufunc's loop with an output stride of zero, or with the output running behind itself.
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

// out = reduction of `in` over the axes marked in `reduced` (one flag per axis of `in`). `out` has the kept axes in
// order (no kept-dims ones: the caller views it as it likes) and the loop's dtype; `in` is cast to it tile by tile.
// `identity` is what an empty reduction gives and what others start from; null: start from the first element (then no
// reduced axis may be empty). `neutral`: what leaves every value as it is, but -0.0 in a sum of nothing else; null:
// there is none.
void build_reduce(Op& op, const Combination& how, const Array& in, const bool* reduced, const Scalar* identity,
                  const Scalar* neutral, const Array& out);

// out[..., i, ...] = reduction of in[..., :i+1, ...] along `axis`; out has the loop's dtype and in's shape.
void build_scan(Op& op, const Combination& how, const Array& in, int axis, const Array& out);

}  // namespace forerun
