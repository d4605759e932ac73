// Which blocks of ops a recording keeps: a sample of them, evenly over all of it.
//
// When the memory is full, every second block gives its place away, and from then on one of two is recorded, then one
// of four, and so on; which of them is chosen as if by chance, but always the same. Where ops are so small that
// recording each would slow them down, blocks are left out, too, but for the first few.
#pragma once
#include <array>
#include <cstdint>

#include "trace/recording_memory.h"

namespace forerun {

// Guarded by the lock of the trace.
class BlockSample {
 public:
  explicit BlockSample(RecordingMemory& memory) : memory_(memory) {}

  // Ticks, some 4 ms, from the begin of a block to that of the next, more so where only one of several is recorded: to
  // record one takes a tenth of a millisecond. Tests set it to 0. Set while nothing is recorded.
  uint64_t apart = 10'000'000;

  void restart(uint64_t first);          // for a new recording, from that block on
  OpRecord* records(uint64_t block);     // of the ops of a block; null: it is not kept
  MoreRecord* add_more(uint64_t block);  // a further record of a block; null: it is not kept, or there is no memory

 private:
  struct Kept {
    uint64_t block;
    uint8_t place;
  };

  const Kept* kept(uint64_t block);        // null: it is not
  const Kept* find(uint64_t block) const;  // the same for a block that was decided on before
  bool chosen(uint64_t block) const;
  void decide(uint64_t block);
  void halve();
  void drop_more();

  static constexpr uint64_t kWhole = 4;  // blocks at the beginning that are kept in any case

  RecordingMemory& memory_;
  uint64_t first_ = 0;  // the first block
  int level_ = 0;
  uint64_t decided_ = 0;                 // one more than the last block that was decided on
  uint64_t since_ = 0;                   // ticks: when the last one that is kept began
  std::array<Kept, kBlocks> kept_{};     // the first n_kept_, in order
  std::array<uint8_t, kBlocks> free_{};  // from n_kept_ on: places for further ones
  int n_kept_ = 0;
};

}  // namespace forerun
