#include "cpu/kernels/reduce/blocked_reduction.h"

#include <algorithm>
#include <cstring>

#include "base/rounding.h"
#include "base/simd/simd_target.h"

namespace forerun {

namespace {

constexpr int64_t kLongRow = 8 * kBlock;  // longer ones are cut
constexpr int64_t kManyColumns = 2 * kBlock;
constexpr int64_t kFewColumns = 256;  // rows this short are folded many at once
constexpr int64_t kTogether = 4;      // longer rows are folded so many at once, if they are not longer than
constexpr int64_t kMostTogether = 4 * kBlock;

template <class T>
void repeat(char* out, int64_t n, const void* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  std::fill_n(reinterpret_cast<T*>(out), n, value);
}

// The sum of a vector's elements: of its halves, of their halves, and so on.
template <class T, int bytes, class V>
[[gnu::always_inline]] inline T across(const V& v) {
  if constexpr (bytes == 2 * sizeof(T)) {
    return v[0] + v[1];
  } else {
    typedef T Half __attribute__((vector_size(bytes / 2)));
    Half low, high;
    std::memcpy(&low, &v, bytes / 2);
    std::memcpy(&high, reinterpret_cast<const char*>(&v) + bytes / 2, bytes / 2);
    return across<T, bytes / 2>(low + high);
  }
}

// Sums with sixteen times four accumulators, which are added at the end: as exact as pairwise addition, and the same on
// every CPU.
template <class T>
[[gnu::always_inline]] inline T sum_of(const T* x, int64_t n) {
  constexpr int kLanes = 64 / sizeof(T), kRows = 4;
  typedef T Vector __attribute__((vector_size(64), aligned(sizeof(T))));
  Vector sums[kRows] = {};
  int64_t i = 0;
  for (; i + kLanes * kRows <= n; i += kLanes * kRows)
    for (int k = 0; k < kRows; ++k) sums[k] += *reinterpret_cast<const Vector*>(x + i + k * kLanes);
  Vector all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; i + kLanes <= n; i += kLanes) all += *reinterpret_cast<const Vector*>(x + i);
  T total = across<T, 64>(all);
  T rest = 0;
  for (; i < n; ++i) rest += x[i];
  return total + rest;
}

// Adds the sum of each row to `out`; rows longer than a block, block by block.
template <class T>
[[gnu::always_inline]] inline void add_sums_of(char* out, const char* in, int64_t rows, int64_t length) {
  auto* to = reinterpret_cast<T*>(out);
  auto* from = reinterpret_cast<const T*>(in);
  for (int64_t row = 0; row < rows; ++row, from += length)
    for (int64_t i = 0; i < length; i += kBlock) to[row] += sum_of(from + i, std::min(kBlock, length - i));
}

FORERUN_CLONES void add_sums_f32(char* out, const char* in, int64_t rows, int64_t length) {
  add_sums_of<float>(out, in, rows, length);
}
FORERUN_CLONES void add_sums_f64(char* out, const char* in, int64_t rows, int64_t length) {
  add_sums_of<double>(out, in, rows, length);
}

}  // namespace

BlockedReduction::BlockedReduction(Loop loop, DType dtype, const Scalar& neutral, int64_t a, int64_t r, int64_t c)
    : loop_(c == 1 && !loop.adds && loop.fallback ? *loop.fallback : loop), dtype_(dtype),
      size_(static_cast<int64_t>(item_size(dtype))), neutral_(neutral), a_(a), r_(r), c_(c) {
  if (c == 1 && r <= kLongRow) {
    kind_ = Kind::rows;
    per_tile_ = std::max<int64_t>(1, kTileElements / std::max<int64_t>(1, r));
    tiles_ = ceil_div(a, per_tile_);
  } else if (c == 1) {
    kind_ = Kind::blocks;
    per_tile_ = kTileElements, cuts_ = ceil_div(r, per_tile_);
    tiles_ = a * cuts_;
  } else if (c > kManyColumns) {
    kind_ = Kind::columns;
    per_tile_ = std::max<int64_t>(1, kTileElements / std::max<int64_t>(1, r) / kBlock) * kBlock,
    cuts_ = ceil_div(c, per_tile_);
    tiles_ = a * cuts_;
  } else if (int64_t rows = std::max<int64_t>(1, kTileElements / c); r > rows) {
    kind_ = Kind::parts;
    per_tile_ = rows, cuts_ = ceil_div(r, rows);
    tiles_ = a * cuts_;
  } else {
    kind_ = Kind::slabs;
    per_tile_ = std::max<int64_t>(1, kTileElements / std::max<int64_t>(1, r * c));
    tiles_ = ceil_div(a, per_tile_);
  }
  tiles_ = std::max<int64_t>(1, tiles_);
}

Range BlockedReduction::range(int64_t tile) const {
  int64_t slab = tile / cuts_, from = tile % cuts_ * per_tile_;
  auto some = [&](int64_t unit, int64_t block) {
    return Range{tile * per_tile_ * unit, std::max<int64_t>(0, std::min(per_tile_, a_ - tile * per_tile_)) * unit, 0, 1,
                 block};
  };
  auto whole = [](int64_t row) { return std::max<int64_t>(1, kBlock / row) * row; };
  int64_t rows = c_ > kFewColumns ? std::max(whole(c_), std::min(kTogether, kMostTogether / c_) * c_)
                                  : whole(std::max<int64_t>(1, c_));
  switch (kind_) {
    case Kind::rows: return some(r_, whole(std::max<int64_t>(1, r_)));
    case Kind::slabs: return some(r_ * c_, rows);
    case Kind::blocks: return {slab * r_ + from, std::min(per_tile_, r_ - from), 0, 1, kBlock};
    case Kind::parts: return {(slab * r_ + from) * c_, std::min(per_tile_, r_ - from) * c_, 0, 1, rows};
    case Kind::columns: return {slab * r_ * c_ + from, std::min(per_tile_, c_ - from), c_, r_, kBlock};
  }
  return {};
}

std::unique_ptr<BlockedReduction::Partial> BlockedReduction::partial() const {
  if (cuts_ == 1 || kind_ == Kind::columns) return nullptr;
  return std::unique_ptr<Partial>(new Partial{CachedRoom(static_cast<size_t>(tiles_ * c_ * size_)), tiles_});
}

void BlockedReduction::apply(char* out, intptr_t out_step, const char* in, intptr_t in_step, int64_t n) const {
  char* args[3] = {out, const_cast<char*>(in), out};
  intptr_t count = n, steps[3] = {out_step, in_step, out_step};
  loop_.function(args, &count, steps, loop_.data);
}

std::array<uint64_t, BlockedReduction::kWords> BlockedReduction::words() const {
  std::array<uint64_t, kWords> all{reinterpret_cast<uintptr_t>(loop_.function),
                                   reinterpret_cast<uintptr_t>(loop_.data)};
  std::memcpy(&all[2], neutral_.bytes, static_cast<size_t>(size_));
  return all;
}

void BlockedReduction::fill(char* out, int64_t n) const {
  if (size_ == 4) return repeat<uint32_t>(out, n, neutral_.bytes);
  if (size_ == 8) return repeat<uint64_t>(out, n, neutral_.bytes);
  int64_t bytes = n * size_, done = std::min(size_, bytes);
  std::memcpy(out, neutral_.bytes, static_cast<size_t>(done));
  for (int64_t more; done < bytes; done += more)
    std::memcpy(out + done, out, static_cast<size_t>(more = std::min(done, bytes - done)));
}

// Reduces each row of values to one value.
void BlockedReduction::reduce_runs(char* out, const char* in, int64_t rows, int64_t length) const {
  if (loop_.adds && dtype_ == DType::f32) return add_sums_f32(out, in, rows, length);
  if (loop_.adds && dtype_ == DType::f64) return add_sums_f64(out, in, rows, length);
  for (int64_t row = 0; row < rows; ++row, out += size_)
    for (int64_t i = 0; i < length; i += kBlock)
      apply(out, 0, in + (row * length + i) * size_, size_, std::min(kBlock, length - i));
}

// Reduces rows of c values to one row. Short ones by halves: the lower half of the rows is combined with the upper one,
// and so on.
void BlockedReduction::reduce_rows(char* out, const char* in, int64_t rows) const {
  int64_t row = c_ * size_;
  if (c_ > kFewColumns || rows < 4) {
    char* args[3] = {out, const_cast<char*>(in), out};
    const intptr_t steps[3] = {size_, size_, size_}, pitches[3] = {0, row, 0};
    if (loop_.rows) return loop_.rows(args, rows, c_, steps, pitches, loop_.data);
    for (int64_t i = 0; i < rows; ++i) apply(out, size_, in + i * row, size_, c_);
    return;
  }
  alignas(64) char scratch[kBlock * 16];
  int64_t half = rows / 2, rest = rows - half;  // rest >= half: an odd row is combined later
  char* args[3] = {const_cast<char*>(in), const_cast<char*>(in) + rest * row, scratch};
  intptr_t count = half * c_, steps[3] = {size_, size_, size_};
  loop_.function(args, &count, steps, loop_.data);
  if (rest > half) std::memcpy(scratch + half * row, in + half * row, static_cast<size_t>(row));
  for (int64_t left = rest; left > 1;) {
    half = left / 2, rest = left - half;
    apply(scratch, size_, scratch + rest * row, size_, half * c_);
    left = rest;
  }
  apply(out, size_, scratch, size_, c_);
}

Dims BlockedReduction::summed_rows() const {
  if (!loop_.adds || (dtype_ != DType::f32 && dtype_ != DType::f64)) return {};
  if (kind_ == Kind::blocks) return {a_, r_};
  const int64_t rest = r_ % (64 / size_);  // not a whole vector: computed element by element
  if (kind_ != Kind::rows || rest * 16 > r_) return {};
  if (r_ <= kBlock) return {a_, r_};
  return r_ % kBlock == 0 ? Dims{a_, r_ / kBlock, kBlock} : Dims{};
}

char* BlockedReduction::place(int64_t tile, char* out, Partial* partial) const {
  if (partial) return partial->values.data() + tile * c_ * size_;
  if (kind_ == Kind::columns) return out + (tile / cuts_ * c_ + tile % cuts_ * per_tile_) * size_;
  return out + tile * (kind_ == Kind::blocks ? 1 : per_tile_ * c_) * size_;
}

void BlockedReduction::begin(int64_t tile, char* out, Partial* partial) const {
  int64_t n = c_;
  if (kind_ == Kind::rows) n = 0;  // each row by itself
  if (kind_ == Kind::blocks) n = 1;
  if (kind_ == Kind::slabs) n = std::max<int64_t>(0, std::min(per_tile_, a_ - tile * per_tile_)) * c_;
  if (kind_ == Kind::columns) n = std::min(per_tile_, c_ - tile % cuts_ * per_tile_);
  fill(place(tile, out, partial), n);
}

void BlockedReduction::fold(int64_t tile, int64_t at, int64_t n, const char* data, char* out, Partial* partial) const {
  switch (kind_) {
    case Kind::rows:
      out += at / r_ * size_;
      fill(out, n / r_);
      return reduce_runs(out, data, n / r_, r_);
    case Kind::blocks: return reduce_runs(place(tile, out, partial), data, 1, n);
    case Kind::parts: return reduce_rows(place(tile, out, partial), data, n / c_);
    case Kind::slabs:
      for (int64_t row = at / c_, end = (at + n) / c_; row < end;) {
        int64_t slab = row / r_, last = std::min(end, (slab + 1) * r_);
        reduce_rows(out + slab * c_ * size_, data + (row * c_ - at) * size_, last - row);
        row = last;
      }
      return;
    case Kind::columns:
      return apply(place(tile, out, partial) + (at % c_ - tile % cuts_ * per_tile_) * size_, size_, data, size_, n);
  }
}

char* BlockedReduction::begin_sums(int64_t tile, int64_t at, int64_t n, char* out, Partial* partial) const {
  if (kind_ != Kind::rows) return place(tile, out, partial);
  fill(out + at / r_ * size_, n / r_);
  return out;
}

void BlockedReduction::end(char* out, Partial* partial) const {
  if (!partial || partial->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // The last tile to end combines all parts in order: the same bits whichever thread ran a tile.
  int64_t row = c_ * size_;
  for (int64_t i = 0; i < a_; ++i) {
    const char* parts = partial->values.data() + i * cuts_ * row;
    std::memcpy(out + i * row, parts, static_cast<size_t>(row));
    if (c_ == 1)
      apply(out + i * row, 0, parts + row, row, cuts_ - 1);
    else
      for (int64_t k = 1; k < cuts_; ++k) apply(out + i * row, size_, parts + k * row, size_, c_);
  }
}

}  // namespace forerun
