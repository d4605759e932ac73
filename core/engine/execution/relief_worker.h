// A thread that works for event loops while all workers run host tasks.
//
// A waiting thread works in a worker's place; an event loop does not. A host task may wait for something that a loop
// does after an await, or await something itself: if such tasks occupy all workers of a queue, one thread for the whole
// process works for the event loops, as a waiting thread would.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "engine/execution/worker_pool.h"
#include "engine/reports/notifier.h"

namespace forerun {

// An awaiting thread counts itself before it reads the number of tasks, and a task is counted before the number of
// awaiting threads is read (all seq_cst), so one of the two calls the relief worker.
class ReliefWorker {
 public:
  ReliefWorker(EngineMutex& mutex, WorkerPool& pool, const Notifier& notifier)
      : mutex_(mutex), pool_(pool), notifier_(notifier) {}

  // A worker of the queue begins a host task, and ends it.
  void enter_task(Queue& queue);
  void leave_task(Queue& queue);
  void call_if_needed();
  bool needed() const { return in_tasks_.load() > 0 && notifier_.has_watchers(); }
  // With the engine's lock or without it: the thread checks whether it must stop.
  void wake();
  // By the relief worker: sleeps until it is needed, or must stop.
  void sleep();

  void before_fork() { wake_mutex_.lock(); }
  void after_fork(bool child);

 private:
  EngineMutex& mutex_;
  WorkerPool& pool_;
  const Notifier& notifier_;
  std::atomic<int> in_tasks_{0};  // queues all of whose workers run host tasks
  // A thread may take this lock while it holds the engine's, never the other way round.
  std::mutex wake_mutex_;
  std::condition_variable wake_;
};

}  // namespace forerun
