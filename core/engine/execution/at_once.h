// Immediate execution: an op that costs less than handing it to a worker runs in the thread that submits it.
//
// It needs no place in program order where no difference can be seen: its operands are computed, no op in flight reads
// or writes its results, and the front end's lock keeps other threads from submitting until it has run. So it takes no
// number, and planning never sees it. Only while a profile is recorded it draws a number, for its record; if older ops
// are still to be planned, the ring then holds SubmissionRing::ended_already() in its place.
#pragma once
#include "engine/execution/executor.h"

namespace forerun {

// By the front end, with its lock.
class AtOnceRunner {
 public:
  AtOnceRunner(EngineMutex& mutex, SubmissionRing& ring, Producer& producer, DependencyGraph& graph, Notifier& notifier,
               const Scheduler& scheduler, Executor& executor, OpRecorder& recorder, const PassSettings& settings)
      : mutex_(mutex), ring_(ring), producer_(producer), graph_(graph), notifier_(notifier), scheduler_(scheduler),
        executor_(executor), recorder_(recorder), settings_(settings) {}

  // Whether an op that costs that many ns takes less time than handing it over; or, if the program will wait, than
  // handing it over and waiting for its end.
  bool is_small(int64_t ns) { return ns <= kMostCost || (ns <= kMostBeforeWait && producer_.will_wait()); }

  // Whether immediate execution is possible now, and no profile is recorded.
  bool works() const { return may() && !recorder_.on(); }
  // Whether the op costs less than handing it to another thread, no op in flight uses its results, and its operands are
  // computed without a failure.
  bool fits(Op& op) { return op.cost <= kMostBeforeWait && may_run(op) && is_small(op.cost); }
  // Runs it in this thread; an error poisons its outputs, or is left to the caller. False: it has not run, because
  // memory is exhausted or it needs a thread of the engine.
  bool run(Op& op);

  // Whether the caller of run() raises the failure of an op, which it takes from `failure`; it poisons nothing then.
  bool raises = false;
  FailurePtr failure;

  uint64_t count = 0;  // ops that ran at once; also written by the front end for those that need no Op
  // The number of these ops without a number. With the engine's lock.
  uint64_t without_number() const { return count - numbered_; }

 private:
  static constexpr int64_t kMostCost = 4000, kMostBeforeWait = 12'000;
  // The most bytes that an immediate write may copy to keep the old values for a NumPy view.
  static constexpr size_t kMostCopied = 1 << 14;
  // The most bytes that it may allocate while older ops are pending, which may release memory first.
  static constexpr size_t kMostAhead = 1 << 20;

  bool may() const { return settings_.on(Pass::at_once) && !scheduler_.gate_closed(std::memory_order_relaxed); }
  bool may_run(Op& op);
  void record(Op& op, uint64_t started);

  EngineMutex& mutex_;
  SubmissionRing& ring_;
  Producer& producer_;
  DependencyGraph& graph_;
  Notifier& notifier_;
  const Scheduler& scheduler_;
  Executor& executor_;
  OpRecorder& recorder_;
  const PassSettings& settings_;
  uint64_t numbered_ = 0;
};

}  // namespace forerun
