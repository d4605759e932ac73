// A map that keeps the keys that were used last.
#pragma once
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace forerun {

// A fixed number of places; the hash() of a key selects two of them. A new key replaces the older one of the two.
template <class Key, class Value, size_t kPlaces>
class RecentMap {
  static_assert(kPlaces % 2 == 0);

 public:
  // Null if the key is not known, or others have replaced it. Valid until the next put.
  const Value* find(const Key& key) const {
    const size_t newer = newer_of(key);
    for (const size_t i : {newer, newer + 1})
      if (places_[i].key == key) return &places_[i].value;
    return nullptr;
  }
  void put(const Key& key, Value value) {
    const size_t newer = newer_of(key);
    if (places_[newer].key && !(places_[newer].key == key)) places_[newer + 1] = std::move(places_[newer]);
    places_[newer].key.emplace(key), places_[newer].value = std::move(value);
  }

 private:
  struct Place {
    std::optional<Key> key;
    Value value;
  };
  // The place of the newer of the two keys with this hash; the older one's is behind it.
  static size_t newer_of(const Key& key) { return key.hash() % (kPlaces / 2) * 2; }

  std::vector<Place> places_{kPlaces};
};

}  // namespace forerun
