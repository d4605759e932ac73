// The bytes of a storage that the elements of a view occupy, roughly: enough to tell that two views do not overlap.
#pragma once
#include <cstdint>

namespace forerun {

// All bytes lie from `low` to before `high`; and in each band, of every `pitch` bytes of the storage, from `from` to
// before `to`. So blocks of a matrix have their rows as a range and their columns as a band.
struct Region {
  struct Band {
    int64_t pitch = 0, from = 0, to = 0;  // pitch 0: no band
    bool operator==(const Band&) const = default;
  };
  static constexpr int kBands = 2;

  int64_t low = INT64_MIN, high = INT64_MAX;  // by default all of the storage
  Band bands[kBands];

  bool operator==(const Region&) const = default;
  // Whether the two certainly have no byte in common; false where it is hard to tell. The same for (a, b) and (b, a).
  bool apart(const Region& other) const {
    return high <= other.low || other.high <= low ||
           ((bands[0].pitch || other.bands[0].pitch) && (misses(other) || other.misses(*this)));
  }
  // Whether it certainly has all bytes of the other; false where it is hard to tell.
  bool contains(const Region& other) const;

 private:
  // Whether the other region has no byte in one of this region's bands.
  bool misses(const Region& other) const;
  // The band of the region when the storage is cut into pieces of `pitch` bytes; pitch 0: it covers several, as far as
  // is known.
  Band band(int64_t pitch) const;
};

}  // namespace forerun
