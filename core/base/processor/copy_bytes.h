// Copies of bytes that do not overlap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace forerun {

// As memcpy, which copies more than some kilobytes by one string instruction: some processors take several times as
// long for that where both addresses are nearly at the same place of a page. Copies that exceed caches are left to it.
inline void copy_bytes(char* to, const char* from, int64_t n) {
  constexpr int64_t kPiece = 2048, kMost = 1 << 18;
  if (n <= kPiece || n > kMost) return void(std::memcpy(to, from, static_cast<size_t>(n)));
  for (int64_t at = 0; at < n; at += kPiece)
    std::memcpy(to + at, from + at, static_cast<size_t>(std::min(kPiece, n - at)));
}

}  // namespace forerun
