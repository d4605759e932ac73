// Dispatch: the steps of a thread between two kernels. The loop of workers; waiting threads run its steps, too.
#pragma once
#include <algorithm>
#include <array>

#include "engine/execution/executor.h"
#include "engine/execution/relief_worker.h"

namespace forerun {

class Dispatcher {
 public:
  Dispatcher(EngineMutex& mutex, SubmissionRing& ring, Producer& producer, DependencyGraph& graph, Notifier& notifier,
             Scheduler& scheduler, WorkerPool& pool, ReliefWorker& relief, Executor& executor)
      : mutex_(mutex), ring_(ring), producer_(producer), graph_(graph), notifier_(notifier), scheduler_(scheduler),
        pool_(pool), relief_(relief), executor_(executor) {}

  // The next step of a thread that has found no work: it continues the program, or looks again, in help().
  enum class Then { go_on, help };

  // The loop of a worker.
  void serve(Queue& queue);

  // A waiting thread works: it runs a batch of ops that cost at most `most`, or of tiles with that cost. False: no work
  // was found. rest: Batch::rest of the last call. wanted: the storage that it waits for; null: it waits for others.
  bool help(uint32_t most, bool& rest, const Storage* wanted);
  // The same for small ops, batch after batch, until `stop`; the lock is taken once to end a batch and to take the
  // next. True: work was left to this thread, which must call help() or WorkerPool::wake_for_leftovers().
  template <class Stop>
  bool run_small(uint32_t most, Stop stop, Then then) {
    Batch batch;
    producer_.begins_to_help();
    finish_and_fetch(batch, nullptr, most, Idle::leave, then);
    for (uint64_t spent = 0; batch.n;) {
      helped_.fetch_add(batch.n, std::memory_order_relaxed);
      spent += batch.cost();
      executor_.run(batch);
      finish_and_fetch(batch, nullptr, spent < kSmallWork && !stop() ? most : 0, Idle::leave, then);
    }
    producer_.stops_helping();
    if (batch.rest && then == Then::go_on) pool_.wake_for_leftovers();
    return batch.rest && then == Then::help;
  }
  // Engine::complete(). hands_over: this thread will hand over the ready ops in the queue of the op.
  void complete(Op& op, FailurePtr failure, bool hands_over = false);
  // Hands over the ready ops of the queue of an attended lane, in place of its thread.
  void hand_over(Queue& queue);
  // The same for an op with that number that was issued just now, if no other op is to be planned. False: it was left
  // to other threads.
  bool hand_over_fresh(Queue& queue, uint64_t seq);
  // By a waiting thread: makes progress on attended lanes. Returns whether it should be called again at once.
  bool attend() const {
    bool again = false;
    for (const std::atomic<Lane*>& lane : attended_)
      if (Lane* each = lane.load(std::memory_order_relaxed)) again |= each->attend();
    return again;
  }
  // Adds this lane to those that waiting threads attend, or removes it. While nothing is in flight.
  void add_attended(Lane& lane);
  void remove_attended(const Lane& lane);
  void remove_all_attended();
  uint64_t helped() const { return helped_.load(); }

  // Returns ops to the free list.
  static void recycle(Op* op);

 private:
  static constexpr uint64_t kSmallWork = 100'000;  // ns: of small ops run at once with the interpreter lock
  enum class Idle { leave, sleep };

  // Ends the ops of the batch and takes the next ones, of ops that cost at most `most` or have tiles (0: none), for
  // `queue` (null: for any, by a waiting thread). The batch comes back empty if there is no work (`leave`) or the
  // worker must stop. Called without the lock. True: work, if there is any, was left to another thread.
  bool finish_and_fetch(Batch& batch, Queue* queue, uint32_t most, Idle idle, Then then = Then::go_on,
                        const Storage* wanted = nullptr);
  bool left_to_helper(const Queue& queue, bool worked) const;
  // Whether the program submits ops, for which it needs a core, while threads are awake on all others, or one is: a
  // worker whose timed wait has ended leaves the work to these.
  bool crowded_by_program() const { return producer_.active() && pool_.awake() >= std::max(2, scheduler_.cores()); }
  // Whether there seems to be work, after at most `looks` more looks.
  bool spin(Queue& queue, int& looks);
  // Without the lock: releases ops and storages, and notifies threads.
  void after_lock(DependencyGraph::Released released, bool notify);

  EngineMutex& mutex_;
  SubmissionRing& ring_;
  Producer& producer_;
  DependencyGraph& graph_;
  Notifier& notifier_;
  Scheduler& scheduler_;
  WorkerPool& pool_;
  ReliefWorker& relief_;
  Executor& executor_;
  std::atomic<uint64_t> helped_{0};               // ops that waiting threads have run
  std::array<std::atomic<Lane*>, 8> attended_{};  // further lanes are served by their own threads alone
};

}  // namespace forerun
