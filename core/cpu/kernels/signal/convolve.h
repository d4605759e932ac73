// Sums of neighbouring elements of a vector with weights: its correlation with a short one.
#pragma once
#include "array/array.h"

namespace forerun {

// With more weights, the functions for long vectors are faster.
constexpr int64_t kMostWeights = 32;

// out[i] = the sum of in[first + i + j] * weights[j] over the existing elements, in the order of j. All are vectors of
// one dtype, float32 or float64, in and out dense; there are 1 to kMostWeights weights.
void build_neighbours(Op& op, const Array& in, const Array& weights, int64_t first, const Array& out);

}  // namespace forerun
