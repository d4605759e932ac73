#include "python/runtime/submission/random_keys.h"

#include <cstdint>
#include <utility>

namespace forerun {

RandomKeys random_keys{};

Key draw_numbers(uint64_t count) {
  return {random_keys.seed, std::exchange(random_keys.next, random_keys.next + count)};
}

}  // namespace forerun
