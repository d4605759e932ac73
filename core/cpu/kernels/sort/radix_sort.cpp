#include "cpu/kernels/sort/radix_sort.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/loops/item.h"

namespace forerun {

namespace {

constexpr int64_t kFewest = 128;  // elements: with fewer, comparisons are faster
constexpr int64_t kMostCounted = 1 << 14;
constexpr int kMostBits = 11, kMostPasses = 3;
constexpr int kTables = 4;  // neighbours are counted separately: equal ones would wait for each other

// The result of f for an integer of dtype t; false for other dtypes.
template <class F>
bool with_integer(DType t, F f) {
  bool found = false;
  with_real(t, [&]<class T>(T value) {
    if constexpr (std::is_integral_v<T>) found = f(value);
  });
  return found;
}

// Maps integers to their distance from the smallest.
template <class T>
struct Keys {
  using Unsigned = std::make_unsigned_t<T>;
  const T* values;
  int64_t n;
  T least, most;

  Keys(const char* from, int64_t n)
      : values(reinterpret_cast<const T*>(from)), n(n), least(values[0]), most(values[0]) {
    for (int64_t i = 1; i < n; ++i) least = std::min(least, values[i]), most = std::max(most, values[i]);
  }
  Unsigned of(T value) const {
    return static_cast<Unsigned>(static_cast<Unsigned>(value) - static_cast<Unsigned>(least));
  }
  uint64_t span() const { return of(most); }
  uint64_t operator[](int64_t i) const { return of(values[i]); }
};

template <class T>
bool sort_counted(const char* from, char* to, int64_t n) {
  const Keys<T> keys(from, n);
  if (keys.span() >= static_cast<uint64_t>(std::min(kMostCounted, n / 4))) return false;
  const size_t width = static_cast<size_t>(keys.span()) + 1;
  std::vector<uint32_t> counts(width * kTables);
  int64_t i = 0;
  for (; i + kTables <= n; i += kTables)
    for (size_t k = 0; k < kTables; ++k) ++counts[k * width + keys[i + static_cast<int64_t>(k)]];
  for (; i < n; ++i) ++counts[keys[i]];
  T* out = reinterpret_cast<T*>(to);
  for (size_t v = 0; v < width; ++v) {
    int64_t count = 0;
    for (size_t k = 0; k < kTables; ++k) count += counts[k * width + v];
    out = std::fill_n(out, count, static_cast<T>(static_cast<std::make_unsigned_t<T>>(keys.least) + v));
  }
  return true;
}

// A key and a position in one number.
struct Pair {
  static uint64_t of(uint64_t key, int64_t position) { return key << 32 | static_cast<uint64_t>(position); }
  static uint64_t key(uint64_t pair) { return pair >> 32; }
  static int64_t position(uint64_t pair) { return static_cast<int64_t>(pair & UINT32_MAX); }
};

// How keys of so many bits are sorted: by digits of so many bits, the last digit first, in so many passes.
struct Digits {
  int passes, bits;
  uint64_t values() const { return uint64_t{1} << bits; }
  uint64_t of(uint64_t key, int pass) const { return key >> pass * bits & (values() - 1); }
};

// The position of the first key with each value of each digit.
template <class T>
std::vector<uint32_t> places(const Keys<T>& keys, const Digits& digits) {
  std::vector<uint32_t> first(static_cast<size_t>(digits.passes) * digits.values());
  for (int64_t i = 0; i < keys.n; ++i)
    for (int p = 0; p < digits.passes; ++p) ++first[static_cast<size_t>(p) * digits.values() + digits.of(keys[i], p)];
  for (int p = 0; p < digits.passes; ++p) {
    uint32_t sum = 0;
    for (size_t d = 0; d < digits.values(); ++d)
      sum += std::exchange(first[static_cast<size_t>(p) * digits.values() + d], sum);
  }
  return first;
}

template <class T>
bool argsort_digits(const char* from, intptr_t* to, int64_t n) {
  const Keys<T> keys(from, n);
  const int bits = std::max(1, static_cast<int>(std::bit_width(keys.span()))),
            passes = (bits + kMostBits - 1) / kMostBits;
  const Digits digits{passes, (bits + passes - 1) / passes};
  if (bits > 32 || passes > kMostPasses ||
      static_cast<uint64_t>(passes) * digits.values() > static_cast<uint64_t>(n) * 2)
    return false;
  std::vector<uint32_t> first = places(keys, digits);
  if (passes == 1) {
    for (int64_t i = 0; i < n; ++i) to[first[keys[i]]++] = i;
    return true;
  }
  const auto scratch = std::make_unique_for_overwrite<uintptr_t[]>(static_cast<size_t>(n));
  auto* out = reinterpret_cast<uintptr_t*>(to);
  uintptr_t* pairs = passes == 2 ? scratch.get() : out;
  for (int64_t i = 0; i < n; ++i) pairs[first[digits.of(keys[i], 0)]++] = Pair::of(keys[i], i);
  if (passes == 3) {
    uint32_t* at = first.data() + digits.values();
    for (int64_t i = 0; i < n; ++i) scratch[at[digits.of(Pair::key(out[i]), 1)]++] = out[i];
  }
  uint32_t* at = first.data() + static_cast<size_t>(passes - 1) * digits.values();
  for (int64_t i = 0; i < n; ++i) to[at[digits.of(Pair::key(scratch[i]), passes - 1)]++] = Pair::position(scratch[i]);
  return true;
}

bool may_pay(int64_t n) { return n >= kFewest && n <= UINT32_MAX; }

}  // namespace

bool sort_by_counting(DType t, const char* values, char* to, int64_t n) {
  return may_pay(n) && with_integer(t, [&]<class T>(T) { return sort_counted<T>(values, to, n); });
}

bool argsort_by_digits(DType t, const char* values, intptr_t* to, int64_t n) {
  return may_pay(n) && with_integer(t, [&]<class T>(T) { return argsort_digits<T>(values, to, n); });
}

}  // namespace forerun
