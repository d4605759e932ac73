#include "base/region.h"

#include <algorithm>
#include <iterator>

namespace forerun {

Region::Band Region::band(int64_t pitch) const {
  auto cut = [&](int64_t from, int64_t to) {
    return from / pitch == (to - 1) / pitch ? Band{pitch, from % pitch, (to - 1) % pitch + 1} : Band{};
  };
  for (const Band& b : bands) {
    if (b.pitch == pitch) return b;
    if (b.pitch && b.pitch % pitch == 0 && b.from / pitch == (b.to - 1) / pitch) return cut(b.from, b.to);
  }
  return low >= 0 && high > low ? cut(low, high) : Band{};
}

bool Region::contains(const Region& other) const {
  auto within = [&](const Band& b) {
    const Band its = b.pitch ? other.band(b.pitch) : Band{};
    return its.pitch == b.pitch && b.from <= its.from && its.to <= b.to;
  };
  return low <= other.low && other.high <= high && std::all_of(std::begin(bands), std::end(bands), within);
}

bool Region::misses(const Region& other) const {
  for (const Band& b : bands) {
    if (b.pitch == 0) continue;
    Band its = other.band(b.pitch);
    if (its.pitch && (its.to <= b.from || b.to <= its.from)) return true;
  }
  return false;
}

}  // namespace forerun
