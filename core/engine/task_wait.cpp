// Whether a host task waits for its own end: the graph is followed from the task on, and from every task that waits for
// what is met.
#include "engine/task_wait.h"

#include <unordered_set>
#include <vector>

#include "engine/engine.h"

namespace forerun {

thread_local RunningTask* Engine::running_ = nullptr;

TaskWait::TaskWait(Storage& storage) : storage_(&storage), tasks_(Engine::running_) {}

TaskWait::~TaskWait() { Engine::get().forget(*this); }

void Engine::forget(TaskWait& wait) {
  if (!wait.known_) return;
  Lock held = lock();
  (wait.prev_ ? wait.prev_->next_ : task_waits_) = wait.next_;
  if (wait.next_) wait.next_->prev_ = wait.prev_;
  wait.known_ = false;
}

SelfWait Engine::waits_for_itself(TaskWait& wait) {
  Lock held = lock();
  if (!wait.known_) {
    wait.known_ = true, wait.next_ = task_waits_;
    if (task_waits_) task_waits_->prev_ = &wait;
    task_waits_ = &wait;
  }
  for (RunningTask* task = wait.tasks_; task; task = task->outer)
    if (comes_after(*task->op, *wait.storage_)) return {true, task->op->name, task->op->site};
  return {};
}

// Whether the storage is settled only after the op has ended.
bool Engine::comes_after(Op& first, const Storage& storage) const {
  std::unordered_set<const Op*> met;
  std::vector<Op*> open;
  auto meet = [&](Op* op) {
    if (met.insert(op).second) open.push_back(op);
  };
  for (meet(&first); !open.empty();) {
    Op* op = open.back();
    open.pop_back();
    for (int i = 0; i < op->n_access; ++i) {
      if (op->access(i).mode == Mode::read) continue;
      const Storage* written = op->access(i).storage;
      if (written == &storage) return true;
      for (TaskWait* other = task_waits_; other; other = other->next_)
        for (RunningTask* task = other->storage_ == written ? other->tasks_ : nullptr; task; task = task->outer)
          meet(task->op);
    }
    for (Edge* edge : op->successors) meet(edge->after);
  }
  return false;
}

}  // namespace forerun
