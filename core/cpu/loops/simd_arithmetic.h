// Plain arithmetic in vectors of 64 bytes: NumPy's loops for it use half the width of a CPU with AVX-512. The bits are
// the same, as each result is rounded once. Also minimum, maximum, and signs.
#pragma once
#include "cpu/loops/loop.h"

namespace forerun {

// A loop for a NumPy ufunc of this formula and dtype that is faster than `numpy`, which it calls for strides and
// overlaps that it does not support; `numpy` itself if no such loop exists.
Loop arithmetic_loop(Formula formula, DType dtype, Loop numpy);

// The loop of second(first(a, b), c), or of second(c, first(a, b)) if the result is not the `left` operand; its inputs
// are a, b, c; of a square only a, b. Each result is rounded once, as by two loops. Operands have consecutive elements,
// or one for the whole row; the output is not an input, or is one of them from its first element on.
Loop pair_loop(const Loop& first, const Loop& second, bool left);

}  // namespace forerun
