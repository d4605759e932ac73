// The ops of one kind on one device that wait for a worker: compute, copies, files.
#pragma once
#include <algorithm>
#include <atomic>

#include "base/containers/ring_bitset.h"
#include "engine/devices/lane.h"
#include "engine/operations/op.h"
#include "engine/operations/submission.h"
#include "engine/sync/parking_lot.h"

namespace forerun {

// Ops whose dependencies are met, oldest first, and ops that run and still have tiles to give away.
// Everything is guarded by the engine's lock, except atomic fields.
class Queue {
 public:
  enum class Kind { compute, copy, io };
  Queue(Kind kind, int device, MemoryBudget* budget, const SubmissionRing& ring)
      : kind(kind), device(device), budget(budget), ring_(ring) {}
  // Makes space for a window of this size. While nothing is issued.
  void make_room(uint64_t size) {
    for (RingBitset& set : ready_)
      if (set.room() < size) set.reset(size);
  }

  void push(Op* op) {
    ready_[kind_of(op)].insert(op->seq);
    const uint32_t cost = whole_cost(*op);
    op->ready_cost = cost > 200 ? cost - 200 : 0;
    count(1, op->ready_cost);
  }
  enum class Tasks { none, brief, all };
  // The oldest op, or null. `tasks`: which host tasks to include: brief ones for a waiting thread; all for a worker, as
  // long as fewer threads than the queue has workers run one.
  Op* top(Tasks tasks = Tasks::all) const {
    return at(oldest(tasks, [](const RingBitset& set) { return set.first(); }));
  }
  // The oldest op that is younger than `op`; or null.
  Op* behind(const Op* op, Tasks tasks = Tasks::all) const {
    return at(oldest(tasks, [op](const RingBitset& set) { return set.next(op->seq); }));
  }
  // The same for ops that were issued by running tasks, which may wait for them.
  Op* top_inner(Tasks tasks) const {
    return at(std::min(ready_[kInner].first(), tasks == Tasks::all ? ready_[kInnerTask].first() : RingBitset::kNone));
  }
  Op* inner_behind(const Op* op, Tasks tasks) const {
    return at(std::min(ready_[kInner].next(op->seq),
                       tasks == Tasks::all ? ready_[kInnerTask].next(op->seq) : RingBitset::kNone));
  }
  // The oldest urgent op.
  Op* top_urgent() const { return at(ready_[kUrgent].first()); }
  // Removes an op from its set.
  void remove(Op* op) {
    ready_[kind_of(op)].erase(op->seq);
    count(-1, -uint64_t{op->ready_cost});
  }
  // From now on other threads may take tiles of the op, which has started. `before`: whether it comes before another.
  template <class F>
  void share(Op* op, F before) {
    sharing.insert(op, before);
    shares_.store(true, std::memory_order_relaxed);
  }
  // Takes a tile of the first such op.
  int64_t take_shared(bool last) {
    Op* op = sharing.front();
    const int64_t tile = op->take_tile(last);
    if (!op->has_tiles()) sharing.pop_front();
    shares_.store(!sharing.empty(), std::memory_order_relaxed);
    return tile;
  }
  bool has_work() const { return seems_busy() || !sharing.empty(); }
  bool only_tiny() const { return ready_cost == 0 && sharing.empty(); }
  // The cost in ns, approximately, of all that a thread could take now.
  uint64_t available_cost() const {
    uint64_t sum = ready_cost;
    for (const Op* op : sharing) sum += uint64_t{tile_cost(*op)} * (op->end_tile - op->next_tile);
    return sum;
  }
  // Hints that need no lock: whether there are ops, other than tiny ones, and tiles.
  bool seems_busy() const { return count_.load(std::memory_order_relaxed) > 0; }
  bool seems_costly() const { return ready_cost.load(std::memory_order_relaxed) > 0; }
  bool seems_to_share() const { return shares_.load(std::memory_order_relaxed); }

  const Kind kind;
  const int device;
  MemoryBudget* const budget;
  Lane* lane = nullptr;   // to which its ops are handed over; null: its threads run them. Written while nothing runs
  bool attended = false;  // Lane::attended(): other threads may hand over its ops, too
  // Whether its ops may be handed over while ops of `before` that they depend on, which have been handed over, have not
  // ended.
  bool follows(const Queue& before) const { return lane && lane->follows(*before.lane); }
  // Whether its threads need a core while they work.
  bool computes() const { return kind != Kind::io && !lane; }
  int wanted = 1;  // threads that are to serve it,
  std::atomic<int> workers{
      1};           // and those that do, once they are started (written with the lock); 0: waiting threads do the work
  int threads = 0;  // workers, and threads started to replace workers whose task waits
  int left = 0;     // of them, those that have stopped before the others
  int tasks = 0;    // threads that run a task,
  int waiting = 0;  // and those of them whose task waits
  std::atomic<int> in_tasks{0};  // of the workers, those that run host tasks
  int busy = 0;                  // threads that run its ops: workers, and waiting threads in their place
  // Whether all of the device's share of the cores is in use.
  bool full() const { return kind == Kind::compute && workers > 0 && busy >= workers; }
  std::atomic<uint64_t> ready_cost{0};      // ns, of the ready ops; tiny ones are not worth another worker
  IntrusiveList<Op, &Op::next_in> sharing;  // started, tiles left to claim; urgent ones first, then oldest first
  ParkingLot parked;                        // workers without work
  std::atomic<bool> refused{false};         // a hint: there is work, but no op may start now
  std::atomic<bool> over{false};            // the last op was refused for memory, not for its place in the order
  uint64_t refused_at = UINT64_MAX;         // the number of ended ops when the budget refused all ready ones
  // Read at each issue: on a cache line that workers seldom write.
  alignas(64) std::atomic<int> sleeping{0};  // workers in `parked`, plus 1 while no worker has been started
  std::atomic<int> timed_waits{0};  // of them, those that read the window again within a fraction of a millisecond
  std::atomic<bool> called{false};  // a worker has been woken, and has not looked for work yet
  std::atomic<int> spinning{0};     // workers that look for work without sleeping
  std::atomic<int> searching{0};    // workers that will read the window within microseconds

 private:
  alignas(64) std::atomic<int> count_{0};
  std::atomic<bool> shares_{false};  // whether `sharing` has ops
  Op* at(uint64_t seq) const { return seq == RingBitset::kNone ? nullptr : ring_.op(seq); }
  void count(int by, uint64_t cost) {
    ready_cost.store(ready_cost.load(std::memory_order_relaxed) + cost, std::memory_order_relaxed);
    count_.store(count_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  enum { kPlain, kTask, kBriefTask, kInner, kInnerTask, kUrgent, kKinds };
  static int kind_of(const Op* op) {
    if (op->is_task()) return op->inner ? kInnerTask : op->brief ? kBriefTask : kTask;
    return op->inner ? kInner : op->urgent ? kUrgent : kPlain;
  }
  // Ops issued by blocked host tasks run before new host tasks; otherwise each blocked task would need another thread.
  template <class F>
  uint64_t oldest(Tasks tasks, F number) const {
    uint64_t first = std::min({number(ready_[kPlain]), number(ready_[kInner]), number(ready_[kUrgent])});
    if (tasks == Tasks::none) return first;
    if (tasks == Tasks::brief) return std::min(first, number(ready_[kBriefTask]));
    if (workers > 0 && this->tasks - waiting >= workers) return first;
    bool inner = ready_[kInner].first() != RingBitset::kNone || ready_[kInnerTask].first() != RingBitset::kNone;
    first = std::min(first, number(ready_[kInnerTask]));
    return waiting > 0 && inner ? first : std::min({first, number(ready_[kTask]), number(ready_[kBriefTask])});
  }
  const SubmissionRing& ring_;
  RingBitset ready_[kKinds];  // numbers of the ops
};

}  // namespace forerun
