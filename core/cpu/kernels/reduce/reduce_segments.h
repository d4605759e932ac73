// Reductions of segments of an axis, as ufunc.reduceat() makes them.
#pragma once
#include "cpu/kernels/reduce/reduce.h"

namespace forerun {

// out[..., k, ...] = reduction of in[..., starts[k]:starts[k + 1], ...] along `axis`, of the last one to the end; of a
// segment without elements, in[..., starts[k], ...]. starts: a vector of int64. `in` and `out` have the loop's dtype.
// A start outside [0, n) throws Error(index), naming the op, before anything is written.
void build_reduce_segments(Op& op, const Combination& how, const Array& in, const Array& starts, int axis,
                           const Array& out);

}  // namespace forerun
