// The keys of random numbers. Guarded by the interpreter lock.
#pragma once
#include <cstdint>

namespace forerun {

// The seed of all random numbers, and the number of the next operation that draws random numbers.
struct RandomKeys {
  uint64_t seed, next;
};
extern RandomKeys random_keys;

// The key of the next random numbers, of which `count` are drawn.
struct Key {
  uint64_t seed, number;
};
Key draw_numbers(uint64_t count);

}  // namespace forerun
