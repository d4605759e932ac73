// How many elements a worker takes at once, about.
#pragma once
#include <cstdint>

namespace forerun {

inline constexpr int64_t kTileElements = int64_t{1} << 16;
// Where each of them takes longer than arithmetic does, as they are put in order, searched or chosen by the values.
inline constexpr int64_t kSlowTileElements = int64_t{1} << 15;

}  // namespace forerun
