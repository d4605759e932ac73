// Random numbers: NumPy's distributions over counter-based bits, so that the same (seed, number) gives the same values
// whoever fills which tile.
#pragma once
#include "array/array.h"

namespace forerun {

enum class Distribution { uniform, normal, integers };

// Fills `out` (dense). uniform: float32/float64 in [lo, hi); normal: float32/float64, mean lo, deviation hi; integers: any integer dtype (bool
// too), in [ilo, ihi_last] inclusive. key = (seed, number of the op in its stream): Philox4x64-10 key; counter = (block, tile, 0, 0).
void build_random(Op& op, Distribution kind, uint64_t seed, uint64_t number, double lo, double hi, int64_t ilo, uint64_t irange, const Array& out);

}  // namespace forerun
