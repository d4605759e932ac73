// Waits: a thread that needs a result helps to compute it, and sleeps only when there is no work for it.
#pragma once
#include <chrono>

#include "engine/execution/dispatcher.h"

namespace forerun {

class Waiter {
 public:
  Waiter(SubmissionRing& ring, Producer& producer, Notifier& notifier, WorkerPool& pool, ReliefWorker& relief,
         Dispatcher& dispatcher, const Scheduler& scheduler)
      : ring_(ring), producer_(producer), notifier_(notifier), pool_(pool), relief_(relief), dispatcher_(dispatcher),
        scheduler_(scheduler) {}

  // --- Without the interpreter lock. False: not yet after `limit`; call again ---
  // Until all writes submitted so far have ended.
  bool wait(Storage& storage, std::chrono::microseconds limit);
  // Until all ops before the mark have ended. The thread runs no op that costs more ns than `most`, to return in time.
  bool wait_mark(uint64_t mark, std::chrono::microseconds limit, uint32_t most = kHelpCost);
  // Until a program that was too far ahead may submit again.
  bool make_room(std::chrono::microseconds limit);

  // --- These may hold the interpreter lock ---
  static constexpr uint64_t kKeepUp = 64;
  // A try before wait(): runs small ops, for microseconds, if there are no others. `then`: whether wait() follows; no
  // worker is woken for work that the thread will find there. True: there is such work, and
  // WorkerPool::wake_for_leftovers() must follow when the wait has ended, in whatever way.
  bool settle_small(Storage& storage, Dispatcher::Then then);
  // The same before wait_mark().
  bool settle_small(uint64_t mark, Dispatcher::Then then);
  // Whether planning is short: few ops have been submitted since the last time.
  bool little_fresh() const { return ring_.fresh() <= 4 * kKeepUp; }
  // By a submitting thread, after each kKeepUp ops: while all ops are tiny it runs them itself, as long as they are in
  // its cache. If they are small, it lets the others end, so that the next ones can run in the call: this takes less
  // time than to submit, plan and run them, and memory for thousands of pending ops is in no cache.
  void keep_up();

  // The loop of the relief worker.
  void serve_relief();
  uint64_t waits() const { return waits_.load(); }

 private:
  void catch_up();
  template <class Done, class Arm>
  bool wait_until(Done done, Arm arm, std::chrono::microseconds limit, uint32_t most, const Storage* wanted = nullptr);

  SubmissionRing& ring_;
  Producer& producer_;
  Notifier& notifier_;
  WorkerPool& pool_;
  ReliefWorker& relief_;
  Dispatcher& dispatcher_;
  const Scheduler& scheduler_;
  std::atomic<uint64_t> waits_{0};
  uint64_t catches_up_from_ = 0;  // the number of the op from which catch_up() tries again; with the front end's lock
};

}  // namespace forerun
