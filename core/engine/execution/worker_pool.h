// The workers: how their threads start, stop, sleep and are woken.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <utility>

#include "engine/scheduling/scheduler.h"
#include "engine/sync/lock.h"

namespace forerun {

class WorkerPool {
 public:
  WorkerPool(EngineMutex& mutex, const DeviceTable& devices, const SubmissionRing& ring, Producer& producer,
             Scheduler& scheduler)
      : mutex_(mutex), devices_(devices), ring_(ring), producer_(producer), scheduler_(scheduler) {}

  // cpu/ makes and joins threads; false: the system cannot start one. Set before the first op.
  std::function<bool(Queue&, int)> make_thread;  // which calls Dispatcher::serve()
  std::function<bool()> make_relief_thread;      // which calls ReliefWorker::serve()
  std::function<void()> join_threads;

  // --- Any thread ---
  void start();  // unless they run already
  // Tells all workers to end; false: no worker runs. By one thread at a time, like the two below.
  bool begin_stop();
  // Waits until they have ended, to start again with the next op; false: not yet after `limit`.
  bool finish_stop(std::chrono::milliseconds limit);
  void resume();  // cancels the stop; workers that have ended start again
  // How often workers have been started and ended: odd while they run. Needs no lock.
  uint32_t lives() const { return lives_.load(std::memory_order_relaxed); }
  bool stopping() const { return stopping_.load(); }
  std::pair<int, int> threads();  // the number of workers of all queues, and the number asked for
  // An op was submitted to the queue, whose workers seem to sleep: wakes one of them.
  void wake(Queue& queue);
  // A thread that left work to itself continues the program. Workers may have parked because all cores were taken, and
  // busy ones may stay so for long: wakes one of them.
  void wake_for_leftovers();
  // The task that a worker runs is waiting, until worker_unblocked().
  void worker_blocked(Queue& queue);
  void worker_unblocked(Queue& queue);
  // A thread of a queue (null: the relief worker) ends.
  void thread_ends(Queue* queue);

  // --- With the engine's lock ---
  bool started() const { return started_; }
  // The threads that use a core, or are about to: workers, except those that run host tasks; and waiting threads.
  int awake() const;
  // Whether more threads are awake than there are cores, while a waiting thread looks for work: a worker without work
  // only takes time from those that compute.
  bool crowded() const { return producer_.looking() > 0 && awake() > scheduler_.cores(); }
  // The calling worker sleeps until it is woken, at most `limit`. False: the limit has passed.
  bool sleep(Queue& queue, Lock& held, std::chrono::microseconds limit);
  // Wakes one more worker for each queue with work: always for other queues if something `changed`, and for the
  // caller's queue (null: it is a waiting thread, and takes from all that compute) if the remaining work is worth it
  // beside that of this `cost`, in ns, which the caller has taken. (A worker that takes work calls this again, so
  // workers wake one another in a chain.) `leaves`: the work is left to the caller, which comes back for it, or calls
  // wake_for_leftovers(): true if there is any.
  bool wake_others(Queue* mine, bool changed, uint64_t cost = 0, bool leaves = false);
  void wake_all();
  // A device was put into use: starts the workers of its queues, now or together with the others.
  void serve(Device& device);
  bool start_relief();  // returns whether there is a relief worker now

  void after_fork_in_child();

 private:
  void start_all();
  void start_queue(Queue& queue);
  bool start_one(Queue& queue, int i);
  bool has_work_for_parked(const Queue& queue) const;

  EngineMutex& mutex_;
  const DeviceTable& devices_;
  const SubmissionRing& ring_;
  Producer& producer_;
  Scheduler& scheduler_;
  // Guarded by the engine's lock.
  bool started_ = false;
  bool relief_started_ = false;
  int serving_ = 0;  // threads that have not ended, or not started yet
  std::condition_variable all_ended_;
  std::atomic<bool> stopping_{false};  // written with the lock,
  std::atomic<uint32_t> lives_{0};     // as is this, which counts the changes of started_
};

}  // namespace forerun
