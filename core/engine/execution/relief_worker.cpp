#include "engine/execution/relief_worker.h"

#include <new>

namespace forerun {

void ReliefWorker::enter_task(Queue& queue) {
  if (queue.in_tasks.fetch_add(1) + 1 != queue.workers) return;
  in_tasks_.fetch_add(1);
  call_if_needed();
}

void ReliefWorker::leave_task(Queue& queue) {
  if (queue.in_tasks.fetch_sub(1) == queue.workers) in_tasks_.fetch_sub(1);
}

void ReliefWorker::call_if_needed() {
  if (!needed()) return;
  {
    Lock held = mutex_.lock();
    if (!pool_.start_relief()) return;
  }
  wake();
}

void ReliefWorker::wake() {
  std::lock_guard held(wake_mutex_);
  wake_.notify_one();
}

void ReliefWorker::sleep() {
  std::unique_lock held(wake_mutex_);
  wake_.wait(held, [&] { return pool_.stopping() || needed(); });
}

void ReliefWorker::after_fork(bool child) {
  if (child) {
    in_tasks_.store(0);
    new (&wake_) std::condition_variable;
  }
  wake_mutex_.unlock();
}

}  // namespace forerun
