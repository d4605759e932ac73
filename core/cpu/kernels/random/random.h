// Random numbers from counter-based bits: the number at a position is a function of (seed, number of the op, position),
// and does not depend on the worker of a tile, the processor, or the array's length.
#pragma once
#include "array/array.h"

namespace forerun {

enum class Distribution { uniform, normal, exponential, integers };

// Fills `out` (dense). uniform: float32/float64 in [lo, hi); normal: float32/float64, mean lo, deviation hi;
// exponential: the same dtypes, lo + hi times the standard exponential; integers: any integer dtype (bool too), from
// low to low + range inclusive. ChaCha8's key is (seed, number of the op in its stream), its counter the position.
void build_random(Op& op, Distribution kind, uint64_t seed, uint64_t number, double lo, double hi, int64_t low,
                  uint64_t range, const Array& out);

}  // namespace forerun
