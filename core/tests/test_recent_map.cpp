// The map that keeps the keys that were used last.
#include "base/containers/recent_map.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

struct Key {
  size_t number;
  size_t hash() const { return number; }
  bool operator==(const Key&) const = default;
};

int value(const RecentMap<Key, int, 8>& map, size_t number) {
  const int* found = map.find({number});
  return found ? *found : -1;
}

}  // namespace

int main() {
  RecentMap<Key, int, 8> map;
  check(value(map, 3) == -1, "nothing is there");
  map.put({3}, 30), map.put({7}, 70);
  check(value(map, 3) == 30 && value(map, 7) == 70, "two of one hash are there");
  map.put({3}, 31), map.put({3}, 32);
  check(value(map, 3) == 32 && value(map, 7) == 70, "a key has one value");
  map.put({11}, 110);
  check(value(map, 3) == 32 && value(map, 11) == 110 && value(map, 7) == -1, "a third one takes the older's place");
  for (size_t i = 0; i < 4; ++i) map.put({i}, static_cast<int>(i));
  for (size_t i = 0; i < 4; ++i) check(value(map, i) == static_cast<int>(i), "others have other places");
  return 0;
}
