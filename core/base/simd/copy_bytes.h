// Copies of bytes that do not overlap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace forerun {

// As memcpy. For more than some kilobytes memcpy uses one string instruction, which is several times slower on some
// processors if both addresses have nearly the same offset in a page. Copies that exceed caches use memcpy.
inline void copy_bytes(char* to, const char* from, int64_t n) {
  constexpr int64_t kPiece = 2048, kMost = 1 << 18;
  if (n <= kPiece || n > kMost) return void(std::memcpy(to, from, static_cast<size_t>(n)));
  for (int64_t at = 0; at < n; at += kPiece)
    std::memcpy(to + at, from + at, static_cast<size_t>(std::min(kPiece, n - at)));
}

}  // namespace forerun
