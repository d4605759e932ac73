// Plain arithmetic in vectors of 64 bytes: NumPy's loops for it use half of what a CPU with AVX-512 has. The same bits, as each result
// is rounded once.
#pragma once
#include "kernels/loop.h"

namespace forerun {

// A loop for a NumPy ufunc of this name and dtype that is faster than `numpy`, which it calls for strides and overlaps that it
// does not know; `numpy` itself if there is none.
Loop arithmetic_loop(const char* ufunc, DType dtype, Loop numpy);

}  // namespace forerun
