#include "engine/execution/task_wait.h"

#include <unordered_set>
#include <vector>

namespace forerun {

TaskWait::TaskWait(TaskWaits& known, Storage& storage) : waits_(known), storage_(&storage), tasks_(Executor::task()) {}

TaskWait::~TaskWait() { waits_.forget(*this); }

void TaskWaits::forget(TaskWait& wait) {
  if (!wait.known_) return;
  Lock held = mutex_.lock();
  (wait.prev_ ? wait.prev_->next_ : all_) = wait.next_;
  if (wait.next_) wait.next_->prev_ = wait.prev_;
  wait.known_ = false;
}

void TaskWaits::forget_all() {
  while (TaskWait* wait = all_) all_ = wait->next_, wait->known_ = false, wait->prev_ = wait->next_ = nullptr;
}

SelfWait TaskWaits::waits_for_itself(TaskWait& wait) {
  Lock held = mutex_.lock();
  if (!wait.known_) {
    wait.known_ = true, wait.next_ = all_;
    if (all_) all_->prev_ = &wait;
    all_ = &wait;
  }
  for (RunningTask* task = wait.tasks_; task; task = task->outer)
    if (comes_after(*task->op, *wait.storage_)) return {true, task->op->name, task->op->site};
  return {};
}

// Whether the storage is settled only after the op has ended: follows the graph from the op on, and from each waiting
// task found on these paths.
bool TaskWaits::comes_after(Op& first, const Storage& storage) const {
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
      for (TaskWait* other = all_; other; other = other->next_)
        for (RunningTask* task = other->storage_ == written ? other->tasks_ : nullptr; task; task = task->outer)
          meet(task->op);
    }
    for (Edge* edge : op->successors) meet(edge->dependent);
  }
  return false;
}

}  // namespace forerun
