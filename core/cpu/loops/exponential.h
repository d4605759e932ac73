// The exponential function of float32 in vectors of 64 bytes, with the bits of NumPy's loop for AVX-512.
#pragma once
#include "cpu/loops/loop.h"

namespace forerun {

// A loop that is faster than `numpy`, NumPy's loop of exp for float32, which it calls for strides and overlaps that it
// does not support; `numpy` itself on other processors, or if the bits of the two differ for a sample of values.
Loop exponential_loop(Loop numpy);

}  // namespace forerun
