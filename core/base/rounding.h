// Rounding of integers to multiples.
#pragma once
#include <cstdint>

namespace forerun {

// n divided by `by`, rounded up, for n >= 0 and by > 0.
constexpr int64_t ceil_div(int64_t n, int64_t by) { return (n + by - 1) / by; }
constexpr int64_t round_up(int64_t n, int64_t by) { return ceil_div(n, by) * by; }

}  // namespace forerun
