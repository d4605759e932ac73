// The approximate number of elements that a worker processes at once.
#pragma once
#include <cstdint>

namespace forerun {

inline constexpr int64_t kTileElements = int64_t{1} << 16;
// For elements that take longer than arithmetic does, as they are sorted, searched or chosen by value.
inline constexpr int64_t kSlowTileElements = int64_t{1} << 15;

}  // namespace forerun
