#include "engine/scheduling/memory_admission.h"

#include <algorithm>

namespace forerun {

namespace {
constexpr int kManyAccesses = 64;  // of one op
}

// Running tasks may wait for the op. If they all wait, it counts as alone; an op submitted by a task always does.
bool MemoryAdmission::alone(const Op& op, int running) const {
  int own = op.started && op.may_wait();
  if (op.budget->running - op.budget->tasks + own != running) return false;
  auto none_before = [&](const Device* device) {
    const Op* first = device->budget->first();
    return !first || first->seq >= op.seq;
  };
  return op.inner || (all_tasks_wait() && std::all_of(devices_.all().begin(), devices_.all().end(), none_before));
}

// Whether no running task will release memory by itself.
bool MemoryAdmission::all_tasks_wait() const {
  return std::all_of(devices_.queues().begin(), devices_.queues().end(),
                     [](const Queue* q) { return q->tasks == q->waiting; });
}

// Modelled in verification/models/budget.py.
bool MemoryAdmission::is_starved(Op& op) const {
  MemoryBudget& budget = *op.budget;
  if (!alone(op, 0) || !devices_.over_limit(op)) return false;
  bool all = op.to_take + budget.occupied() <= budget.hard.load();  // the limit of all devices together is exceeded
  if (all && std::any_of(devices_.all().begin(), devices_.all().end(),
                         [](const Device* d) { return d->budget->running > d->budget->tasks; }))
    return false;
  const Queue::Tasks tasks = op.inner ? Queue::Tasks::none : Queue::Tasks::all;
  for (Queue* q : devices_.queues())
    if (q != op.queue && (all || q->budget == &budget))
      for (Op* other = q->top(tasks); other; other = q->behind(other, tasks))
        if (MemoryBudget::needs(*other) == 0) return false;
  return true;
}

// If nothing runs in this process, and the oldest op is a message in flight, the other rank may be waiting for the ops
// behind it.
bool MemoryAdmission::admits(Op& op) const {
  MemoryBudget& budget = *op.budget;
  if (devices_.over_limit(op)) return false;
  if (budget.admits(op) && !devices_.crowded(op)) return true;
  const Op* first = budget.first();
  if (!first || !all_tasks_wait()) return false;
  const bool stuck = first->elsewhere && budget.running == budget.tasks;
  return first == &op || (stuck && op.to_take + budget.occupied() <= budget.soft.load());
}

bool MemoryAdmission::refuse(Op& op) const {
  op.refused_after = graph_.ended(), op.refused_beside = op.budget->occupied();
  bool over = op.budget->over(op);
  op.queue->over.store(over, std::memory_order_relaxed);
  if (op.record) op.record->flags = op.record->flags | (over ? OpRecord::over : OpRecord::held);
  return false;
}

// True until an op has ended or memory has been released.
bool MemoryAdmission::refused_before(const Op& op) const {
  if (op.n_access <= kManyAccesses || op.inner || op.failure || op.refused_after != graph_.ended()) return false;
  return op.refused_beside == op.budget->occupied() && op.budget->first() != &op;
}

bool MemoryAdmission::prepare_sections(Op& op) {
  for (int i = 0; i < op.n_access; ++i) {
    Access& a = op.access(i);
    if (!a.apart || a.mode == Mode::read || (a.storage->taken() && a.storage->unshared())) continue;
    if (!alone(op, 0)) return false;
    if (!(a.storage->taken() ? a.storage->protect(true) : a.storage->take())) fail(op);
  }
  return true;
}

void MemoryAdmission::fail(Op& op) {
  failures_.fail(op, failures_.made(ErrorKind::memory, op, [&] { return devices_.over_limit_message(op); }));
}

}  // namespace forerun
