// The dependencies between ops: found from the storages that they read and write, when ops enter the graph in program
// order.
#pragma once
#include "base/containers/intrusive_list.h"
#include "engine/operations/op.h"
#include "engine/operations/submission.h"
#include "engine/reports/failure_log.h"
#include "engine/reports/notifier.h"
#include "engine/reports/op_recorder.h"

namespace forerun {

// All with the engine's lock.
class DependencyGraph {
 public:
  DependencyGraph(SubmissionRing& ring, Notifier& notifier, OpRecorder& recorder, FailureLog& failures)
      : ring_(ring), notifier_(notifier), recorder_(recorder), failures_(failures) {}

  // Adds an op, behind all that were submitted before it. by_parts: it is ordered by the parts of storages that it
  // uses. now: cycles, if it may be recorded.
  void add(Op* op, bool by_parts, uint64_t now);
  // It has ended, with all ops of its group: ops that waited for it may be ready now.
  void end(Op* op);
  // For an op of a lane: hand_over() has returned, and the lane has accepted it or, if not `accepted`, has not. Ops
  // that follow it may be handed over now.
  void handed_over(Op* op, bool accepted);
  // The lane has completed the op, perhaps before hand_over() has returned.
  void completed(Op* op, FailurePtr failure);
  // The op no longer uses the storage. If it was the last user, the budget is updated at once; the memory itself is
  // released without the lock.
  void release(Op& op, Storage& storage);
  void advance_front();

  // The access leaves its storage: its op has ended, or will not run.
  static void leave(Access& access);
  static void count_end(const Access& access);  // of a write
  // The op inherits the failure of an operand: of several, the one that a program without an engine would have raised.
  static void inherit_failure(Op& op, const Access& access);
  // Whether none of its inputs has failed, as far as is known.
  static bool inputs_ok(Op* op);
  // Its outputs count as having memory, or no longer.
  static void mark_materialized(Op& op, bool materialized);
  // The ops that wait for this one count one more dependency as reached by the group or batch that is being formed.
  static void count_reached(Op* op, int by);
  // Whether it counts as placed for the ops of its queue that wait for it.
  static void set_placed(Op* op, bool placed);

  uint64_t ended() const { return ended_; }
  // Whether ops have entered the graph, or have ended without running, since the last call: other queues may have work
  // now.
  bool take_changed() { return std::exchange(changed_, false); }
  void mark_changed() { changed_ = true; }

  // Ops and storages to be released without the lock.
  struct Released {
    IntrusiveList<Op, &Op::next_in> ops;                    // to be reused
    IntrusiveList<Storage, &Storage::next_freed> storages;  // last references of ended ops
  };
  bool has_released() const { return !released_.ops.empty() || !released_.storages.empty(); }
  Released take_released() { return {released_.ops.take(), released_.storages.take()}; }

 private:
  void end_one(Op* op, const Op* group = nullptr);
  void end_all_idle();
  void dependencies_met(Op* op);
  void find_failure(Op& op);

  SubmissionRing& ring_;
  Notifier& notifier_;
  OpRecorder& recorder_;
  FailureLog& failures_;
  // Guarded by the engine's lock.
  uint64_t ended_ = 0;
  bool changed_ = false;
  IntrusiveList<Op, &Op::next_in> idle_;  // dropped and completed ops without pending dependencies, to be ended
  Released released_;
};

}  // namespace forerun
