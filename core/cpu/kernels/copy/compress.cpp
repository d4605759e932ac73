#include "cpu/kernels/copy/compress.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/rounding.h"
#include "cpu/kernels/reduce/count_nonzero.h"
#include "cpu/kernels/tile_elements.h"
#include "cpu/loops/item.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr uint64_t kOnes = 0x0101010101010101;

// Eight bytes of a mask, each as 0 or 1.
uint64_t read_eight(const char* mask) {
  uint64_t bytes;
  std::memcpy(&bytes, mask, 8);
  bytes |= bytes >> 4, bytes |= bytes >> 2, bytes |= bytes >> 1;
  return bytes & kOnes;
}

// Nothing is written behind the last one: another worker writes there.
template <class T>
void select(const char* mask, const T* from, T* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const uint64_t eight = read_eight(mask + i);
    if (eight == 0) continue;
    if (eight == kOnes) {
      std::memcpy(to, from + i, 8 * sizeof(T));
      to += 8;
      continue;
    }
    T some[8];
    int k = 0;
    for (int j = 0; j < 8; ++j)
      some[k] = from[i + j], k += static_cast<int>(eight >> 8 * j & 1);  // no branch, which could not be predicted
    std::memcpy(to, some, static_cast<size_t>(k) * sizeof(T));
    to += k;
  }
  for (; i < n; ++i)
    if (mask[i]) *to++ = from[i];
}

class SelectKernel final : public Kernel {
 public:
  const char* name() const override { return "take"; }
  int64_t tiles() const override { return std::max<int64_t>(1, ceil_div(size, kSlowTileElements)); }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override {
    const int64_t first = tile * kSlowTileElements, n = std::min(kSlowTileElements, size - first);
    if (n <= 0) return;
    const char* mask = operand_data(op, 1, mask_offset) + first;
    const auto size = static_cast<int64_t>(item);
    select_elements(mask, operand_data(op, 0, from_offset + first * size),
                    operand_data(op, 2, before[static_cast<size_t>(tile)] * size), n, item);
  }

  bool describe(Op&, OpSpec& spec) const override {
    const auto step = static_cast<int64_t>(item);
    spec.kind = "compress", spec.name = name();
    spec.input(0, strided(dtype, {size}, {step}, from_offset));
    spec.input(1, strided(DType::b1, {size}, {1}, mask_offset));
    spec.output(2, strided(dtype, {before.back()}, {step}, 0));
    return true;
  }

  int64_t size = 0, from_offset = 0, mask_offset = 0;
  DType dtype = DType::f32;
  size_t item = 0;
  std::vector<int64_t> before;
};

}  // namespace

void select_elements(const char* mask, const char* from, char* to, int64_t n, size_t item) {
  with_item(item, [&]<class T>(T) { select(mask, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), n); });
}

void list_positions(const char* mask, int64_t n, int64_t* to) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (uint64_t eight = read_eight(mask + i); eight != 0; eight &= eight - 1) *to++ = i + std::countr_zero(eight) / 8;
  for (; i < n; ++i)
    if (mask[i]) *to++ = i;
}

uint32_t cost_under(int64_t size, int64_t chosen) {
  return static_cast<uint32_t>(std::min<int64_t>(60 + size / 16 + 2 * chosen, INT32_MAX));
}

std::vector<int64_t> held_before(const char* mask, int64_t n) {
  std::vector<int64_t> before{0};
  for (int64_t first = 0; first < n; first += kSlowTileElements)
    before.push_back(before.back() + count_true(mask + first, std::min(kSlowTileElements, n - first)));
  return before;
}

void build_select(Op& op, const Array& from, const Array& mask, const Array& to, std::vector<int64_t> before) {
  SelectKernel& k = op.emplace<SelectKernel>();
  op.add(from.storage(), Mode::read);
  op.add(mask.storage(), Mode::read);
  op.add(to.storage(), to.write_mode());
  k.size = from.layout.size, k.dtype = from.layout.dtype, k.item = item_size(k.dtype), k.before = std::move(before);
  k.from_offset = from.layout.offset, k.mask_offset = mask.layout.offset;
  op.cost = cost_under(k.size, to.layout.size);
}

}  // namespace forerun
