#include "trace/block_sample.h"

#include <algorithm>

namespace forerun {

namespace {

// Which of two neighbours is kept when one must be dropped: pseudo-random, so that nothing periodic is always missed.
bool second_of(uint64_t pair, int level) {
  uint64_t x = (pair + 1) * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(level) * 0xd1b54a32d192ed03;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  return (x ^ (x >> 32)) & 1;
}

}  // namespace

void BlockSample::restart(uint64_t first) {
  first_ = decided_ = first, level_ = 0, since_ = 0, n_kept_ = 0;
  for (int i = 0; i < kBlocks; ++i) free_[i] = static_cast<uint8_t>(i);
}

OpRecord* BlockSample::records(uint64_t block) {
  const Kept* one = kept(block);
  return one ? memory_.at<OpRecord>(kAtOps) + one->place * kBlockOps : nullptr;
}

MoreRecord* BlockSample::add_more(uint64_t block) {
  if (!kept(block)) return nullptr;
  Head& h = memory_.head();
  while (h.n_more >= kMore && n_kept_ > 1) halve();
  if (h.n_more >= kMore) return h.dropped += 1, nullptr;
  if (!find(block)) return nullptr;
  MoreRecord* record = memory_.at<MoreRecord>(kAtMore) + h.n_more;
  h.n_more += 1;
  record->block = block;
  return record;
}

const BlockSample::Kept* BlockSample::kept(uint64_t block) {
  block = std::max(block, first_);
  if (block >= decided_) decide(block);
  return find(block);
}

const BlockSample::Kept* BlockSample::find(uint64_t block) const {
  const Kept* end = kept_.data() + n_kept_;
  const Kept* at =
      std::lower_bound(kept_.data(), end, block, [](const Kept& one, uint64_t block) { return one.block < block; });
  return at != end && at->block == block ? at : nullptr;
}

void BlockSample::decide(uint64_t block) {
  memory_.calibrate();
  Head& h = memory_.head();
  h.next = std::max<uint64_t>(h.next, block << kBlockShift);
  decided_ = block + 1;
  if (!chosen(block) || (block - first_ >= kWhole && h.later_ticks - since_ < apart << level_)) return;
  if (n_kept_ == kBlocks) halve();
  since_ = h.later_ticks;
  uint8_t place = free_[n_kept_];
  kept_[n_kept_++] = {block, place};
  h.blocks[place] = block + 1;
  h.n_blocks = std::max<uint64_t>(h.n_blocks, place + 1);
}

// Whether it is the one chosen of 2^level neighbours.
bool BlockSample::chosen(uint64_t block) const {
  uint64_t n = block - first_;
  for (int i = 0; i < level_; ++i, n >>= 1)
    if ((n & 1) != second_of(n >> 1, i)) return false;
  return true;
}

// Drops one block of each pair. The freed places are reused last, the oldest first: by then all ops of the old block
// have ended, since fewer ops can be in flight than half of the places hold.
void BlockSample::halve() {
  int pairs = n_kept_ / 2, left = n_kept_ - pairs;
  std::array<uint8_t, kBlocks> given;
  for (int i = 0; i < pairs; ++i) {
    bool second = second_of(static_cast<uint64_t>(i), level_);
    given[i] = kept_[2 * i + !second].place;
    kept_[i] = kept_[2 * i + second];
    memory_.head().blocks[given[i]] = 0;
  }
  if (left > pairs) kept_[pairs] = kept_[n_kept_ - 1];
  std::copy(free_.begin() + n_kept_, free_.end(), free_.begin() + left);
  std::copy(given.begin(), given.begin() + pairs, free_.end() - pairs);
  n_kept_ = left;
  memory_.head().level = static_cast<uint64_t>(++level_);
  drop_more();
}

void BlockSample::drop_more() {
  MoreRecord* all = memory_.at<MoreRecord>(kAtMore);
  uint64_t left = 0, n = memory_.head().n_more;
  for (uint64_t i = 0; i < n; ++i) {
    if (!find(all[i].block)) continue;
    all[left++] = all[i];
  }
  memory_.head().n_more = left;
}

}  // namespace forerun
