// Reductions of dense values: in[a, r, c] over r gives out[a, c]. The order of additions depends on A, R and C alone.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/shape.h"
#include "cpu/kernels/scalar.h"
#include "cpu/kernels/tile_elements.h"
#include "cpu/loops/loop.h"
#include "memory/caching_allocator.h"

namespace forerun {

// The number of elements passed to a loop at once: some operands of that size stay in the L1 cache.
inline constexpr int64_t kBlock = 2048;

// The elements of a tile: `count` runs of `length` elements, `pitch` apart, each processed in blocks of `block`
// elements.
struct Range {
  int64_t start, length, pitch, count, block;
};

// Calls f(first, n) for the blocks of a range.
template <class F>
void each_block(const Range& range, F f) {
  for (int64_t i = 0; i < range.count; ++i)
    for (int64_t at = range.start + i * range.pitch, end = at + range.length; at < end; at += range.block)
      f(at, std::min(range.block, end - at));
}

class BlockedReduction {
 public:
  BlockedReduction() = default;
  BlockedReduction(Loop loop, DType dtype, const Scalar& neutral, int64_t a, int64_t r, int64_t c);

  int64_t tiles() const { return tiles_; }
  Range range(int64_t tile) const;
  int64_t elements() const { return a_ * r_ * c_; }
  int64_t rows() const { return a_; }
  int64_t row_length() const { return r_; }
  // Whether fold() takes any number of values at once, and cuts them into blocks itself.
  bool cuts_runs() const { return c_ == 1; }
  // Whether a tile has whole rows, and the results of a block's rows are complete when the block has been folded.
  bool by_rows() const { return kind_ == Kind::rows; }
  bool same_tiles(const BlockedReduction& o) const { return a_ == o.a_ && r_ == o.r_ && c_ == o.c_; }
  DType dtype() const { return dtype_; }
  // Two reductions of the same elements with the same words give the same results.
  static constexpr int kWords = 4;
  std::array<uint64_t, kWords> words() const;
  // A shape of the elements: each of its rows, or the part of it in a block, is added up in sum_of()'s order and then
  // added to a result; empty: results are computed in other ways.
  Dims summed_rows() const;

  // State that is written while it runs: results of tiles that are parts of a sum.
  struct Partial {
    CachedRoom values;
    std::atomic<int64_t> left;
  };
  std::unique_ptr<Partial> partial() const;  // null: not needed

  // For each tile: begin, fold all its blocks in order (`data`: n values from position `at` on), end.
  void begin(int64_t tile, char* out, Partial* partial) const;
  void fold(int64_t tile, int64_t at, int64_t n, const char* data, char* out, Partial* partial) const;
  void end(char* out, Partial* partial) const;
  // In place of fold(), for a loop that adds the sums of summed_rows() to results itself: the address of the first of
  // these, of all rows if by_rows(), otherwise of the block's.
  char* begin_sums(int64_t tile, int64_t at, int64_t n, char* out, Partial* partial) const;

 private:
  enum class Kind {
    rows,     // c = 1, short rows: a tile has some of them
    blocks,   // c = 1, long rows: each is cut into blocks, whose results are combined at the end
    slabs,    // c > 1: a tile has some whole slabs (r x c)
    parts,    // the same with large slabs: some rows of a slab, whose results are combined at the end
    columns,  // c large: some columns of a slab
  };
  void apply(char* out, intptr_t out_step, const char* in, intptr_t in_step, int64_t n) const;
  void fill(char* out, int64_t n) const;
  void reduce_runs(char* out, const char* in, int64_t rows, int64_t length) const;
  void reduce_rows(char* out, const char* in, int64_t rows) const;
  // The address of a tile's results.
  char* place(int64_t tile, char* out, Partial* partial) const;

  Loop loop_;
  DType dtype_ = DType::f32;
  int64_t size_ = 4;
  Scalar neutral_{};
  int64_t a_ = 1, r_ = 1, c_ = 1;
  Kind kind_ = Kind::rows;
  int64_t per_tile_ = 1;  // rows, elements of a row, slabs, rows of a slab, columns
  int64_t cuts_ = 1;      // tiles of a row, or of a slab
  int64_t tiles_ = 1;
};

}  // namespace forerun
