// The layout of a recording: fixed-size records in one stretch of memory, which may be a file's. `profiler/decode.py`
// reads it.
//
//   Head | Text (names and lines, as text) | LineRecord[kLines] | MoreRecord[kMore] | OpRecord[kBlocks * kBlockOps]
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/simd/relaxed_atomic.h"

namespace forerun {

// An op from its issue to its end. Times are ticks of the processor's clock; 0: not yet.
struct OpRecord {
  static constexpr int kDeps = 5, kDims = 6;
  // `held`: it was ready, and had to wait for older operations, as memory would have risen above the peak of the
  // program in order; `over`: for memory, as more would have been live than the budget or the limit of its device
  enum : uint8_t { dropped = 1, failed = 2, grouped = 4, held = 8, over = 16 };

  RelaxedAtomic<uint64_t> seq;
  RelaxedAtomic<uint64_t> issued, planned, started, ended;
  RelaxedAtomic<uint64_t> name;   // the address of its name (Text has both)
  RelaxedAtomic<uint64_t> bytes;  // memory that it took for its outputs
  RelaxedAtomic<uint32_t> live_started,
      live_ended;  // KiB of arrays on its device: when its outputs were allocated, and at its end
  RelaxedAtomic<uint32_t> site;
  RelaxedAtomic<uint16_t> issuer, thread;  // the threads that issued it and ran it (or its last tile)
  RelaxedAtomic<uint32_t> group;           // how many ops before it the first op of its group was issued
  RelaxedAtomic<uint8_t> device, queue, flags, n_deps;
  RelaxedAtomic<uint8_t> dtype, ndim;  // of the first output: 1 + DType; 0: not known
  RelaxedAtomic<uint16_t> unused;
  RelaxedAtomic<uint32_t>
      deps[kDeps];  // how many ops before it the ops were issued whose results it read; further ones are MoreRecords
  RelaxedAtomic<uint32_t> dims[kDims];  // the first extents
};
static_assert(sizeof(OpRecord) == 128);

// A tile of an op, a wait, or further dependencies of an op.
struct MoreRecord {
  enum Kind : uint32_t { tile, wait, deps };
  RelaxedAtomic<uint64_t> seq;    // of the op; of the op that was waited for, or 0
  RelaxedAtomic<uint64_t> block;  // of the op, or of the last one that was issued before the wait ended
  RelaxedAtomic<uint64_t> started, ended;
  RelaxedAtomic<uint64_t> name;  // of a wait: the blocking call
  RelaxedAtomic<uint32_t> site;
  RelaxedAtomic<uint16_t> thread, unused;
  RelaxedAtomic<uint32_t> kind, payload[3];  // `deps`: how many, and up to two of them
};
static_assert(sizeof(MoreRecord) == 64);

// All waits of one kind in one line, summed over the whole recording.
struct LineRecord {
  RelaxedAtomic<uint64_t> name;  // the blocking call
  RelaxedAtomic<uint32_t> site;
  RelaxedAtomic<uint32_t> known;  // 0: an empty place
  RelaxedAtomic<uint64_t> waits, ticks, longest;
  RelaxedAtomic<uint64_t>
      lost;  // ticks of waits in which the front end could have done the work between this wait and its next one
  RelaxedAtomic<uint64_t> reads;  // calls that found the values computed
  RelaxedAtomic<uint64_t> unused;
};
static_assert(sizeof(LineRecord) == 64);

// Ops are recorded by blocks of kBlockOps that were issued one after the other. The recording has space for kBlocks of
// them.
constexpr int kBlockShift = 10, kBlocks = 128;
constexpr uint64_t kBlockOps = uint64_t{1} << kBlockShift;
constexpr uint64_t kMore = 1 << 17, kLines = 1 << 12, kText = 4 << 20;

struct Head {
  static constexpr uint64_t kMagic = 0x3165636172746672;  // "rftrace1"
  RelaxedAtomic<uint64_t> magic;
  RelaxedAtomic<uint64_t> ticks, nanoseconds;              // the same moment on both clocks, at the start,
  RelaxedAtomic<uint64_t> later_ticks, later_nanoseconds;  // and at the end, or recently
  RelaxedAtomic<uint64_t> first,
      next;  // numbers of the first op that was issued in the recording, and of the one after the last
  RelaxedAtomic<uint64_t> level;                     // one of 2^level blocks is kept
  RelaxedAtomic<uint64_t> n_text, n_more, n_blocks;  // how much of each part is in use
  RelaxedAtomic<uint64_t> dropped;                   // MoreRecords that did not fit
  RelaxedAtomic<uint64_t> ended;                     // 1: this is a complete copy; 0: the process records, or has died
  RelaxedAtomic<uint64_t> cores;                     // threads that may run ops at once
  RelaxedAtomic<uint64_t> blocks[kBlocks];  // 1 + the block in each place; 0: an empty place, or a dropped block
};
constexpr size_t kHead = 4096;
static_assert(sizeof(Head) <= kHead);
constexpr size_t kAtText = kHead, kAtLines = kAtText + kText, kAtMore = kAtLines + kLines * sizeof(LineRecord),
                 kAtOps = kAtMore + kMore * sizeof(MoreRecord),
                 kRecording = kAtOps + kBlocks * kBlockOps * sizeof(OpRecord);

}  // namespace forerun
