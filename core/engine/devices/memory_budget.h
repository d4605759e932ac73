// How much memory the arrays of one device may take, and how far ahead of program order an op may take it.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/operations/op.h"

namespace forerun {

class Accelerator;

// One per device; lives as long as the process. Program order makes the rule: executed strictly in order, a program has
// some peak of live memory; an op may start ahead of older ones only if it does not raise that peak by more than a
// margin. So a program that never waits needs hardly more memory than one that waits after each op, and independent ops
// still run side by side. The oldest op may always start, so there is no deadlock: if it waits in a planned group for
// younger ops that are refused memory, and nothing runs, it leaves the group (Fusion::release). Behind a message
// between ranks, which this process cannot complete alone, the oldest ready op may start: the other rank may be waiting
// for its results.
class MemoryBudget {
 public:
  explicit MemoryBudget(int device) : device(device) {}

  // Counting; any thread.
  void charge(size_t bytes);
  void discharge(size_t bytes) { live.fetch_sub(bytes, std::memory_order_relaxed); }
  uint32_t live_kib() const {
    return static_cast<uint32_t>(std::min<size_t>(live.load(std::memory_order_relaxed) >> 10, UINT32_MAX));
  }
  void reset_peak() { peak.store(live.load()); }

  // The rest is guarded by the engine's lock.
  void planned(Op* op, bool on_files);
  bool oldest(const Op& op) const { return order_.front() == &op; }
  // The oldest op that has not ended, except running tasks; or null.
  const Op* first() const;
  const Op* first_unstarted() const;  // the oldest that has neither started nor ended; or null
  // Whether `op`, which needs op.to_take bytes and is ready, may take them now.
  bool admits(Op& op);
  // The same for an op that may start, together with the ops fused with it: alone it would take `own` bytes, the group
  // takes its to_take.
  bool admits_group(Op& first, size_t own) const;
  void starts(Op& op, size_t own);  // of op.to_take bytes, `own` are taken in program order if it is the oldest
  size_t unstarted_demand() const { return unstarted_demand_; }  // bytes that planned ops want that have not started
  size_t wanted_before(const Op& op) const;  // by older ops of another budget; SIZE_MAX: very many ops
  static size_t needs(Op& op);               // bytes of its outputs that have no memory
  size_t occupied() const { return live.load(std::memory_order_relaxed) + reserved.load(std::memory_order_relaxed); }
  // For an op that it does not admit: whether a limit would be exceeded. Otherwise the op is only ahead of older ops.
  bool over(const Op& op) const;
  void undo_start(Op& op);
  void ends(Op& op);
  // An op that the budget needs no longer, or null; the engine frees it.
  Op* retire();

  const int device;
  Accelerator* accelerator = nullptr;    // null: host memory. Written before the device is used
  std::atomic<bool> lost{false};         // this is a child process, and the device belongs to its parent
  std::atomic<size_t> live{0}, peak{0};  // bytes of storages to which a handle or an op refers
  std::atomic<size_t> reserved{0};       // for ops that have started and whose memory is not allocated yet
  std::atomic<size_t> soft{SIZE_MAX};    // limit for ops ahead of program order
  std::atomic<size_t> hard{SIZE_MAX};    // limit for all ops: beyond it they fail with MemoryError
  std::atomic<size_t> io_headroom{
      0};           // how much of the memory used by ops on files may exceed the peak of the program in order
  int running = 0;  // ops started and not ended;
  int tasks = 0;    // of them, host tasks and messages between ranks, whose duration is not known

 private:
  // Bytes that may be taken ahead of program order: a sixteenth of the peak, or an amount that is negligible for a
  // process. While files are read and written, also as much as those ops use: so the next piece is read while the
  // current one is computed, and the last one is written.
  size_t slack(size_t peak) const {
    return std::max<size_t>(peak / 16, 2 << 20) + std::min(files_, io_headroom.load(std::memory_order_relaxed));
  }
  static constexpr int kLookAhead = 256;  // ops before `op` that are examined

  bool fits(Op& op) const;  // the complete check: examines all ops before `op`
  // The most bytes that would be live if all ops from a group's first to its last ran alone and in order; 0: they
  // cannot, as older ops have not started.
  size_t group_peak_in_order(Op& first) const;
  void take_out(Op* op);
  void merge_next(Op* op);

  // Planned ops in program order. One that has ended stays until the oldest one has ended, as its memory was taken and
  // released ahead of program order. Adjacent ended ops are merged into one entry: its `ahead` is the most that they
  // had taken, one after the other, its `freed` the memory released after that peak. So however long the oldest op
  // takes, the list has at most two entries for each op that has not ended.
  TwoWayList<Op, &Op::before_planned, &Op::next_planned> order_;
  size_t listed_ = 0;                     // entries of the list
  uint64_t ended_ = 0;                    // ops that have ended
  IntrusiveList<Op, &Op::next_in> done_;  // to be freed
  size_t files_ = 0;                      // bytes that planned ops on files read or write and that have not ended
  size_t unstarted_demand_ = 0;  // bytes that planned ops want that have not started: at least as many as they will
                                 // take
  size_t ahead_ = 0;             // bytes taken by planned ops ahead of program order
  size_t freed_early_ = 0;       // bytes released by planned ops that have ended ahead of program order
  size_t peak_in_order_ = 0;     // the most that would have been live when an oldest op started, if all ops had run in
                                 // order; since the engine was last idle
  // The bytes that would be live now if all ops had run in order.
  size_t live_in_order(size_t now) const { return now + freed_early_ - std::min(now + freed_early_, ahead_); }
};

}  // namespace forerun
