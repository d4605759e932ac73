#include "engine/execution/worker_pool.h"

#include <algorithm>
#include <new>

namespace forerun {

void WorkerPool::start() {
  Lock held = mutex_.lock();
  if (!started_) start_all();
}

void WorkerPool::start_all() {
  started_ = true;
  lives_.fetch_add(1);
  for (Queue* q : devices_.queues()) start_queue(*q);
}

void WorkerPool::start_queue(Queue& queue) {
  queue.sleeping.fetch_sub(1);
  // With fewer threads than asked for it is slower; with none, waiting threads do the work.
  for (queue.workers = 0; queue.workers < queue.wanted && start_one(queue, queue.workers);) ++queue.workers;
  queue.threads = queue.workers;
}

bool WorkerPool::start_one(Queue& queue, int i) {
  bool started = make_thread(queue, i);
  serving_ += started;
  return started;
}

bool WorkerPool::start_relief() {
  if (!started_ || stopping_.load()) return false;
  if (!relief_started_ && (relief_started_ = make_relief_thread())) ++serving_;
  return true;
}

void WorkerPool::serve(Device& device) {
  if (!started_) return;
  for (Queue* q : device.queues()) {
    if (!stopping_.load())
      start_queue(*q);
    else
      q->sleeping.fetch_sub(1), q->left = q->threads = q->wanted;  // as if they had stopped: they start with the others
  }
}

// With the submission gate modelled in verification/models/life.py.
bool WorkerPool::begin_stop() {
  Lock held = mutex_.lock();
  if (!started_) return false;
  stopping_.store(true);
  wake_all();
  return true;
}

bool WorkerPool::finish_stop(std::chrono::milliseconds limit) {
  Lock held = mutex_.lock();
  if (!all_ended_.wait_for(held, limit, [&] { return serving_ == 0; })) return false;
  held.unlock();
  join_threads();  // they have no work left
  held.lock();
  stopping_.store(false);
  started_ = false;
  lives_.fetch_add(1);
  for (Queue* q : devices_.queues()) q->sleeping.store(1), q->called.store(false), q->left = q->threads = 0;
  return true;
}

void WorkerPool::resume() {
  Lock held = mutex_.lock();
  stopping_.store(false);
  for (Queue* q : devices_.queues())
    for (; q->left > 0; --q->left)
      if (!start_one(*q, q->left - 1)) --q->threads, q->workers = std::min<int>(q->workers, q->threads);
}

void WorkerPool::thread_ends(Queue* queue) {
  Lock held = mutex_.lock();
  if (queue)
    ++queue->left;
  else
    relief_started_ = false;
  if (--serving_ == 0) all_ended_.notify_all();
}

std::pair<int, int> WorkerPool::threads() {
  Lock held = mutex_.lock();
  std::pair<int, int> found;
  for (Queue* q : devices_.queues()) found.first += q->workers, found.second += q->wanted;
  return found;
}

// With Engine::issue(), sleep() and Dispatcher::serve() modelled in verification/models/wake.py.
void WorkerPool::wake(Queue& queue) {
  if (queue.searching.load() > 0) return;  // it will read the ring before it sleeps or takes long work
  if (queue.called.load()) return;
  Lock held = mutex_.lock();
  if (!started_) {
    start_all();
  } else if (queue.sleeping.load() > 0) {
    queue.called.store(true);
    queue.parked.wake_one(scheduler_.cpus());
  }
}

void WorkerPool::wake_all() {
  for (Queue* q : devices_.queues()) q->parked.wake_all();
}

// A worker in a timed wait reads the ring by itself, and a busy one does so when its work has ended.
void WorkerPool::wake_for_leftovers() {
  Lock held = mutex_.lock();
  for (Queue* q : devices_.queues()) {
    if (!has_work_for_parked(*q)) continue;
    if (q->timed_waits.load() == 0 || (q->ready_cost > kWakeCost && !scheduler_.anything_runs()))
      q->parked.wake_one(scheduler_.cpus());
  }
}

// A waiting task occupies no worker, so that another thread can do the work it waits for; if no thread is parked, one
// is started, and stays.
void WorkerPool::worker_blocked(Queue& queue) {
  Lock held = mutex_.lock();
  ++queue.waiting;
  bool too_few = queue.workers > 0 && queue.threads - queue.waiting < queue.workers && queue.sleeping.load() == 0;
  if (too_few && started_ && !stopping_.load()) queue.threads += start_one(queue, queue.threads);
}

void WorkerPool::worker_unblocked(Queue& queue) {
  Lock held = mutex_.lock();
  --queue.waiting;
}

int WorkerPool::awake() const {
  int n = producer_.looking();
  for (const Queue* q : devices_.queues())
    if (q->computes()) n += std::max(0, q->threads - q->tasks - q->sleeping.load());
  return n;
}

// While all cores are busy, the busy threads look again themselves; while threads are awake on all of them, those that
// wait for a result.
bool WorkerPool::has_work_for_parked(const Queue& queue) const {
  if (!queue.has_work() || queue.sleeping.load() == 0 || !started_) return false;
  if (!queue.computes()) return true;
  if (scheduler_.all_cores_busy() || queue.full()) return false;
  return awake() < scheduler_.cores() || !producer_.leave_work();
}

// Modelled in verification/models/wake.py. A worker without work first waits for a limited time, so that a thread that
// submits small ops need not wake it; then it is parked.
bool WorkerPool::sleep(Queue& queue, Lock& held, std::chrono::microseconds limit) {
  bool timeout = limit != ParkingLot::kForever;
  queue.timed_waits.fetch_add(timeout);
  queue.sleeping.fetch_add(1);
  queue.searching.fetch_sub(1);
  bool woken = true;
  if (timeout || scheduler_.gate_closed() || !ring_.has_fresh()) woken = queue.parked.sleep(held, limit);
  queue.searching.fetch_add(1);
  queue.sleeping.fetch_sub(1);
  queue.timed_waits.fetch_sub(timeout);
  return woken;
}

// A thread that comes back for the work itself wakes another one if this saves more time than a wake-up takes.
bool WorkerPool::wake_others(Queue* mine, bool changed, uint64_t cost, bool leaves) {
  bool rest = false;
  for (Queue* q : devices_.queues()) {
    if (!has_work_for_parked(*q)) continue;
    if (leaves && q->kind == Queue::Kind::compute && !q->lane) {
      rest = true;
      continue;
    }
    if (q->only_tiny() && q->timed_waits.load() > 0) continue;  // it reads the ring by itself soon
    const bool returns = mine ? q == mine : cost > 0 && q->computes();
    const uint64_t available = returns ? q->available_cost() : 0;
    if (returns ? available > kWakeCost && available + cost > 2 * kWakeCost : changed || !mine)
      q->parked.wake_one(scheduler_.cpus());
  }
  return rest;
}

// The parent's sleeping threads do not exist in the child; a condition variable on which threads sleep must not be
// destroyed.
void WorkerPool::after_fork_in_child() {
  for (Queue* q : devices_.queues()) {
    q->parked.forget();
    q->sleeping.store(1);
    q->threads = q->tasks = q->waiting = 0;
    q->in_tasks.store(0), q->spinning.store(0), q->searching.store(0), q->timed_waits.store(0), q->called.store(false);
  }
  new (&all_ended_) std::condition_variable;
  lives_.fetch_add(started_);
  started_ = relief_started_ = false, serving_ = 0;
  stopping_.store(false);
}

}  // namespace forerun
