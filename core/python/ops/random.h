// Random numbers.
#pragma once
#include <cstdint>

namespace forerun {

// The key of the next random numbers, of which `count` are drawn.
struct Key {
  uint64_t seed, number;
};
Key draw_numbers(uint64_t count);

}  // namespace forerun
