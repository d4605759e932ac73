#include "cpu/kernels/copy/repeat.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/rounding.h"
#include "cpu/loops/item.h"

namespace forerun {

namespace {

constexpr int64_t kTile = int64_t{1} << 15;  // elements that one worker writes at once, where rows are short

class RepeatKernel final : public Kernel {
 public:
  const char* name() const override { return "repeat"; }
  int64_t tiles() const override { return ceil_div(rows, rows_per_tile()) * pieces(); }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override {
    const int64_t row = tile / pieces() * rows_per_tile(), p = tile % pieces(), first = p * piece,
                  last = std::min(n, first + piece), total = before.back();
    const char* from = operand_data(op, 0, from_offset);
    char* to = operand_data(op, 2, to_offset);
    const auto* counts = reinterpret_cast<const int64_t*>(operand_data(op, 1, counts_offset));
    if (std::accumulate(counts + first, counts + last, int64_t{0}) != before[p + 1] - before[p])
      throw Error(ErrorKind::runtime, "repeat: repeats must not change");
    for (int64_t r = row; r < std::min(rows, row + rows_per_tile()); ++r)
      copy(from + (r * n + first) * block, counts + first, last - first, to + (r * total + before[p]) * block);
  }

  std::vector<int64_t> before;
  int64_t rows = 1, n = 0, piece = 1, block = 1;  // block: bytes of the axes behind the repeated one
  int64_t from_offset = 0, counts_offset = 0, to_offset = 0;

 private:
  int64_t pieces() const { return static_cast<int64_t>(before.size()) - 1; }
  // Rows of one piece are taken together.
  int64_t rows_per_tile() const {
    return pieces() == 1 ? std::max<int64_t>(1, kTile / std::max<int64_t>(1, before.back())) : 1;
  }
  void copy(const char* from, const int64_t* counts, int64_t length, char* to) const {
    with_bytes(static_cast<size_t>(block), [&](auto size) {
      for (int64_t i = 0; i < length; ++i, from += size)
        for (int64_t k = counts[i]; k > 0; --k, to += size) std::memcpy(to, from, size);
    });
  }
};

}  // namespace

void build_repeat(Op& op, const Array& from, const Array& counts, std::vector<int64_t> before, int64_t piece,
                  const Array& to) {
  add(op, from, Mode::read);
  add(op, counts, Mode::read);
  op.add(to.storage(), to.write_mode());
  op.cost = static_cast<uint32_t>(std::min<int64_t>(60 + 2 * counts.layout.size + to.layout.nbytes() / 16, INT32_MAX));
  RepeatKernel& k = op.emplace<RepeatKernel>();
  k.before = std::move(before), k.piece = piece;
  k.rows = from.layout.shape[0], k.n = from.layout.shape[1];
  k.block = from.layout.shape[2] * static_cast<int64_t>(item_size(from.layout.dtype));
  k.from_offset = from.layout.offset, k.counts_offset = counts.layout.offset, k.to_offset = to.layout.offset;
}

}  // namespace forerun
