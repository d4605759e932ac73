// Rows to columns, in vectors. T: float or double.
#pragma once
#include <cstdint>

namespace forerun {

// Copies lines of n elements, `step` bytes apart, next to each other: element k of line i to to[k * places + i].
template <class T>
void transpose_in(const char* from, int64_t step, int64_t lines, int64_t n, T* to, int64_t places);
// The inverse: copies from[k * places + i] to element k of line i. Lines are `step` elements apart.
void transpose_out(const float* from, int64_t places, int64_t lines, int64_t n, float* to, int64_t step);

}  // namespace forerun
