// A loop of NumPy's that computes a line of numbers from a line of numbers, such as those of Fourier transforms, along
// one axis of arrays.
#pragma once
#include "array/array.h"
#include "cpu/kernels/scalar.h"
#include "cpu/loops/loop.h"

namespace forerun {

struct LineLoop {
  const char* ufunc;  // its name, which outlives the op
  Loop loop;
  DType factor, out;
};

// out = loop(in, factor) for each line along `axis`, the only axis in which the shapes differ; the loop's signature is
// (n),()->(m). `per_line`: about how many ns a line takes.
void build_line_loop(Op& op, const char* name, const LineLoop& loop, const Array& in, int axis, const Scalar& factor,
                     int64_t per_line, const Array& out);

}  // namespace forerun
