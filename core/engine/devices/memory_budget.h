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
// some peak of live memory; an op may start ahead of older ones only where that peak does not rise for it by more than
// a margin. So a program that never waits needs hardly more memory than one that waits after each op, and independent
// ops still run side by side. The oldest op may always start, so nothing can deadlock: where it waits in a planned
// group for younger ops that are refused memory, and nothing runs, it leaves the group (Fusion::release). Behind a
// message between ranks, for which nothing can be done here, the oldest that is ready may start: the other rank may be
// waiting for its results.
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
  // The oldest that has not ended, running tasks aside; or null.
  const Op* first() const;
  const Op* first_unstarted() const;  // the oldest that has neither started nor ended; or null
  // Whether `op`, which needs op.to_take bytes and is ready, may take them now.
  bool admits(Op& op);
  // The same for an op that may start and would take `own` bytes by itself, but its to_take with those that it is
  // joined with.
  bool admits_group(Op& first, size_t own) const;
  void starts(Op& op, size_t own);  // of op.to_take bytes, `own` are taken in program order if it is the oldest
  size_t unstarted_demand() const { return unstarted_demand_; }  // bytes that planned ops want that have not started
  size_t wanted_before(
      const Op& op) const;      // the same for ops of another budget that are older; SIZE_MAX: there are very many
  static size_t needs(Op& op);  // bytes of its outputs that have no memory
  size_t occupied() const { return live.load(std::memory_order_relaxed) + reserved.load(std::memory_order_relaxed); }
  // Of an op that it does not admit: whether more would be live than may be. Otherwise it is only ahead of older ops.
  bool over(const Op& op) const;
  void undo_start(Op& op);
  void ends(Op& op);
  // An op that the budget needs no longer, or null; the engine frees it.
  Op* retire();

  const int device;
  Accelerator* accelerator = nullptr;    // null: host memory. Written before the device is used
  std::atomic<bool> lost{false};         // it is the parent's, of a process that forked: its threads are not here
  std::atomic<size_t> live{0}, peak{0};  // of what somebody still refers to
  std::atomic<size_t> reserved{0};       // for ops that have started and not yet taken their memory
  std::atomic<size_t> soft{SIZE_MAX};    // ops ahead of program order stay below
  std::atomic<size_t> hard{SIZE_MAX};    // nothing goes above: MemoryError
  std::atomic<size_t> io_headroom{
      0};           // how much of what ops on files hold may come on top of the peak of the program in order
  int running = 0;  // ops started and not ended;
  int tasks = 0;    // of them, host tasks and messages between ranks, whose length is not known

 private:
  // Bytes that may be taken ahead of program order: a sixteenth of the peak, or what a process does not notice. While
  // files are read and written, also as much as these hold: so the next piece is read while one is computed with, and
  // computed while one is written.
  size_t slack(size_t peak) const {
    return std::max<size_t>(peak / 16, 2 << 20) + std::min(files_, io_headroom.load(std::memory_order_relaxed));
  }
  static constexpr int kLookAhead = 256;  // ops before `op` that are looked at

  bool fits(Op& op) const;  // looks at all ops before it
  // The most that would be live if all ops from a group's first to its last ran in order, by themselves; 0: it is not
  // possible, as older ones are to start yet.
  size_t group_peak_in_order(Op& first) const;
  void take_out(Op* op);
  void merge_next(Op* op);

  // Planned ops in program order. One that has ended stays until the oldest one has, as what it took and gave back came
  // ahead of program order. Of those that stand side by side one stands for all: its `ahead` is the most that they had,
  // one after the other, its `freed` what was given back from there on. So however long the oldest one takes, there are
  // no more than two for each that has not ended.
  TwoWayList<Op, &Op::before_planned, &Op::next_planned> order_;
  IntrusiveList<Op, &Op::next_in> done_;  // to be freed
  size_t files_ = 0;                      // bytes of what planned ops on files read or write that have not ended
  size_t unstarted_demand_ = 0;  // bytes that ops of these want that have not started: no less than they will take
  size_t ahead_ = 0;             // bytes taken by them ahead of program order
  size_t freed_early_ = 0;       // bytes given back by those that have ended ahead of program order
  size_t peak_in_order_ = 0;     // the most that would have been live when an oldest op started, had all run in order;
                                 // since all work last ended
  // The bytes that would be live now, had all run in order.
  size_t live_in_order(size_t now) const { return now + freed_early_ - std::min(now + freed_early_, ahead_); }
};

}  // namespace forerun
