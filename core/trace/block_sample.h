// The blocks of ops that a recording keeps: a sample, evenly spread over the recording.
//
// When the memory is full, every second block is dropped, and from then on one block of two is recorded, then one of
// four, and so on; the choice is pseudo-random and reproducible. Where ops are so small that recording each one would
// slow them down, further blocks are left out, except the first few.
#pragma once
#include <array>
#include <cstdint>

#include "trace/recording_memory.h"

namespace forerun {

// Guarded by the lock of the trace.
class BlockSample {
 public:
  explicit BlockSample(RecordingMemory& memory) : memory_(memory) {}

  // The minimum time between the starts of recorded blocks, in ticks (some 4 ms); longer where only one of several
  // blocks is recorded: recording one takes a tenth of a millisecond. Tests set it to 0. Set while nothing is recorded.
  uint64_t apart = 10'000'000;

  void restart(uint64_t first);          // for a new recording, from that block on
  OpRecord* records(uint64_t block);     // of the ops of a block; null: the block is not kept
  MoreRecord* add_more(uint64_t block);  // a further record of a block; null: the block is not kept, or memory is full

 private:
  struct Kept {
    uint64_t block;
    uint8_t place;
  };

  const Kept* kept(uint64_t block);        // null: the block is not kept
  const Kept* find(uint64_t block) const;  // the same for a block that has been decided on
  bool chosen(uint64_t block) const;
  void decide(uint64_t block);
  void halve();
  void drop_more();

  static constexpr uint64_t kWhole = 4;  // blocks at the beginning that are kept in any case

  RecordingMemory& memory_;
  uint64_t first_ = 0;  // the first block
  int level_ = 0;
  uint64_t decided_ = 0;                 // one more than the last block decided on
  uint64_t since_ = 0;                   // ticks at which the last kept block began
  std::array<Kept, kBlocks> kept_{};     // the first n_kept_, in order
  std::array<uint8_t, kBlocks> free_{};  // from n_kept_ on: places for further ones
  int n_kept_ = 0;
};

}  // namespace forerun
