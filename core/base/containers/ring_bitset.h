// A set of numbers that lie close together, with fast access to the smallest: a bit per number, and bits that say which
// words are not empty.
#pragma once
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace forerun {

// Its numbers must lie within a span of `room`. It allocates memory in reset() only.
class RingBitset {
 public:
  static constexpr uint64_t kNone = UINT64_MAX;

  // Makes the set empty. `room` is a power of two, at least 64. May throw std::bad_alloc; then nothing has changed.
  void reset(uint64_t room) {
    RingBitset fresh;
    fresh.mask_ = room - 1;
    for (uint64_t words = room; words > 1;) {
      words = (words + 63) / 64;
      fresh.bits_[fresh.levels_++].assign(words, 0);
    }
    *this = std::move(fresh);
  }
  uint64_t room() const { return mask_ + 1; }
  bool empty() const { return first_ == kNone; }
  uint64_t first() const { return first_; }  // the smallest; kNone if the set is empty
  bool has(uint64_t number) const { return bits_[0][(number & mask_) / 64] >> (number % 64) & 1; }
  // Not in the set yet.
  void insert(uint64_t number) {
    uint64_t at = number & mask_;
    for (int level = 0; level < levels_; ++level, at /= 64) {
      uint64_t before = bits_[level][at / 64];
      bits_[level][at / 64] = before | uint64_t{1} << (at % 64);
      if (before) break;
    }
    if (number < first_) first_ = number;
  }
  // In the set.
  void erase(uint64_t number) {
    uint64_t at = number & mask_;
    for (int level = 0; level < levels_; ++level, at /= 64)
      if (bits_[level][at / 64] &= ~(uint64_t{1} << (at % 64))) break;
    if (number == first_) first_ = bits_[levels_ - 1][0] ? behind(number) : kNone;
  }
  // The smallest number larger than `number`, which need not be in the set; kNone if there is no such number.
  uint64_t next(uint64_t number) const {
    if (empty()) return kNone;
    uint64_t found = behind(number);
    return found - first_ <= mask_ ? found : kNone;  // not once around the ring
  }

 private:
  // The next number around the ring. The set is not empty.
  uint64_t behind(uint64_t number) const {
    uint64_t start = (number + 1) & mask_, at = from(start);
    if (at == kNone) at = from(0);
    return number + 1 + ((at - start) & mask_);
  }
  // The first bit at a place or behind it.
  uint64_t from(uint64_t at) const {
    for (int level = 0; level < levels_; ++level) {
      if (at / 64 >= bits_[level].size()) return kNone;
      uint64_t word = bits_[level][at / 64] & ~uint64_t{0} << (at % 64);
      if (!word) {
        at = at / 64 + 1;
        continue;
      }
      at = at / 64 * 64 + static_cast<uint64_t>(std::countr_zero(word));
      for (; level > 0; --level) at = at * 64 + static_cast<uint64_t>(std::countr_zero(bits_[level - 1][at]));
      return at;
    }
    return kNone;
  }

  std::vector<uint64_t>
      bits_[7];  // a bit for each number; then for each word of the level before, until one word is left
  int levels_ = 0;
  uint64_t mask_ = 0;
  uint64_t first_ = kNone;
};

}  // namespace forerun
