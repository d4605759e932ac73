// Dispatch: what a thread does between two kernels. Workers live here; waiting threads come by.
#pragma once
#include "engine/execution/executor.h"
#include "engine/execution/relief_worker.h"

namespace forerun {

class Dispatcher {
 public:
  Dispatcher(EngineMutex& mutex, SubmissionRing& ring, Producer& producer, DependencyGraph& graph, Notifier& notifier,
             Scheduler& scheduler, WorkerPool& pool, ReliefWorker& relief, Executor& executor)
      : mutex_(mutex), ring_(ring), producer_(producer), graph_(graph), notifier_(notifier), scheduler_(scheduler),
        pool_(pool), relief_(relief), executor_(executor) {}

  // The life of a worker.
  void serve(Queue& queue);

  // A waiting thread works: it runs a batch of ops that cost at most `most`, or of tiles that do. False: there is
  // nothing to do. rest: as Batch::rest of the last time.
  bool help(uint32_t most, bool& rest);
  // The same for small ops, batch after batch, until `stop`; the lock is taken once to end a batch and to
  // take the next.
  template <class Stop>
  void run_small(uint32_t most, Stop stop) {
    Batch batch;
    producer_.begins_to_help();
    finish_and_fetch(batch, nullptr, most, Idle::leave);
    for (uint64_t spent = 0; batch.n;) {
      helped_.fetch_add(batch.n, std::memory_order_relaxed);
      spent += batch.cost();
      executor_.run(batch);
      finish_and_fetch(batch, nullptr, spent < kSmallWork && !stop() ? most : 0, Idle::leave);
    }
    producer_.stops_helping();
    if (batch.rest) pool_.wake_for_leftovers();
  }
  // Engine::complete().
  void complete(Op& op, FailurePtr failure);
  uint64_t helped() const { return helped_.load(); }

  // Ops go back to the free list.
  static void recycle(Op* op);

 private:
  static constexpr uint64_t kSmallWork = 100'000;  // ns: of small ops that are run at once with the interpreter lock
  enum class Idle { leave, sleep };

  // Ends what the batch holds and takes the next one, of ops that cost at most `most` or have tiles (0: none), for
  // `queue` (null: for any, by a waiting thread). An empty batch comes back if there is nothing to do (`leave`) or the
  // worker must stop. Called without the lock.
  void finish_and_fetch(Batch& batch, Queue* queue, uint32_t most, Idle idle);
  bool spin(Queue& queue);
  // Without the lock: what it was to release, and to notify.
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
  std::atomic<uint64_t> helped_{0};  // ops that waiting threads have run
};

}  // namespace forerun
