// Sets of numbers that lie close together, compared with the standard library's.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

#include "base/containers/ring_bitset.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

uint64_t after(const std::set<uint64_t>& all, uint64_t number) {
  auto at = all.upper_bound(number);
  return at == all.end() ? RingBitset::kNone : *at;
}

// A span of `room` numbers that moves upwards; `dense`: about one in so many is in the set.
void walk(uint64_t room, uint64_t dense, uint32_t seed) {
  std::mt19937_64 random(seed);
  RingBitset set;
  set.reset(room);
  std::set<uint64_t> all;
  uint64_t from = random() % 1000;
  for (int i = 0; i < 20'000; ++i) {
    uint64_t number = from + random() % room;
    if (set.has(number) != (all.count(number) > 0)) check(false, "has " + std::to_string(number));
    if (all.count(number)) {
      set.erase(number), all.erase(number);
    } else if (random() % dense == 0) {
      set.insert(number), all.insert(number);
    }
    if (random() % 8 == 0) from = all.empty() ? from + random() % room : std::min(*all.begin(), from + random() % 64);
    check(set.empty() == all.empty(), "empty");
    check(set.first() == (all.empty() ? RingBitset::kNone : *all.begin()), "the smallest");
    uint64_t some = from + random() % room;
    if (all.empty() || some - *all.begin() < room)
      check(set.next(some) == after(all, some), "the one behind " + std::to_string(some));
  }
}

}  // namespace

int main() {
  for (uint64_t room : {uint64_t{64}, uint64_t{128}, uint64_t{4096}, uint64_t{1} << 16, uint64_t{1} << 19})
    for (uint64_t dense : {1, 20}) walk(room, dense, static_cast<uint32_t>(room + dense));
  return 0;
}
