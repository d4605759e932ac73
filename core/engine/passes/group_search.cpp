#include "engine/passes/group_search.h"

#include <algorithm>

#include "engine/devices/memory_budget.h"
#include "engine/graph/sections.h"

namespace forerun {

namespace {

bool is_younger(const Op* a, const Op* b) { return a->seq > b->seq; }

}  // namespace

bool GroupSearch::may_join(const Op& op) const {
  return !op.started && !op.dropped && !op.placed && !(op.disbanded && before_ == Before::placed) &&
         op.seq > first_->seq && op.seq - first_->seq <= kReach && op.queue == first_->queue &&
         op.budget == first_->budget && op.inner == first_->inner && op.urgent == first_->urgent &&
         op.kernel()->fusible();
}

// Notes an op to be tried, if all of its dependencies are in the group; else to have its dependencies visited, once.
void GroupSearch::look(Op* op) {
  const bool ready =
      op->pending_dependencies == op->reached + (before_ == Before::placed ? op->placed_dependencies : 0);
  const uint32_t as = round_ + ready;
  if (op->seen >= as && op->seen <= round_ + 1) return;
  if (!may_join(*op)) return;
  op->seen = as;
  if (!ready) {
    if (may_wait_ > 0) --may_wait_, waiting_[n_waiting_++] = op;
  } else if (may_find_ > 0) {
    --may_find_, found_[n_found_++] = op;
    std::push_heap(found_.begin(), found_.begin() + n_found_, is_younger);
  }
}

// Visits the operations that read the results of an op that was tried.
void GroupSearch::look_ahead(Op* op) {
  int most = kMostAround;
  for (Edge* edge : op->successors) {
    if (most-- == 0) break;
    look(edge->dependent);
  }
}

// Visits the other dependencies of those operations, and so on.
void GroupSearch::look_behind() {
  while (n_waiting_ > 0) {
    Op* waits = waiting_[--n_waiting_];
    for (int i = 0; i < waits->n_access; ++i) {
      const uint64_t seq = waits->seq - waits->access(i).back;
      if (Op* before = seq < waits->seq ? ring_.op(seq) : nullptr; before && before->seq == seq) look(before);
    }
  }
}

// Tries the oldest op found. If it does not fit, the ops that read its results do not fit either; but their other
// dependencies may.
void GroupSearch::try_next() {
  std::pop_heap(found_.begin(), found_.begin() + n_found_, is_younger);
  Op* op = found_[--n_found_];
  if (op->retries_alone || !DependencyGraph::inputs_ok(op)) return;
  if (dead_ops_.dead(*op)) {                               // its handles have been released since it was planned
    if (op->pending_dependencies > 0) dead_ops_.drop(op);  // a ready one is dropped when it is picked
    return;
  }
  if (first_->group->add(*op)) {
    first_->members.push_back(op);
    DependencyGraph::count_reached(op, 1);
    const int more = std::min(kAroundEach, wait_left_);
    may_wait_ += more, wait_left_ -= more;
  }
  look_ahead(op);
  look_behind();
}

// Finds the members of a group of `first`: ops that read its results, other dependencies of those, and so on; and ops
// that read the same values and write little, such as sums.
void GroupSearch::gather(Op* first, size_t most) {
  first_ = first, round_ += 2, n_found_ = n_waiting_ = 0;
  may_find_ = kMost, may_wait_ = kAroundFirst, wait_left_ = kMost - kAroundFirst;
  if (round_ == 0) round_ = 2;  // 0 marks ops that have not been visited
  first->seen = round_ + 1;
  first->group.reset(first->kernel()->new_group(*first));
  if (!first->group) return;
  look_ahead(first);
  for (int i = 0; i < first->n_access; ++i) {
    const Access& a = first->access(i);
    int around = kMostAround;
    for (Access* other = a.linked ? readers_of(a) : nullptr; other && around-- > 0; other = other->next)
      if (MemoryBudget::needs(*other->op()) <= a.storage->bytes / 8) look(other->op());
  }
  look_behind();
  while (n_found_ > 0 && first->members.size() < most) try_next();
}

// Forms a group of `first` and of ops that fit, `most` at most. False: no op fits, or memory is exhausted.
bool GroupSearch::collect(Op* first, size_t most) {
  std::vector<Op*>& members = first->members;
  members.clear();
  DependencyGraph::count_reached(first, 1);
  bool good = if_memory_allows([&] { gather(first, most); });
  waits_ = first->pending_dependencies;
  for (Op* op : members) waits_ += op->pending_dependencies - op->reached;
  DependencyGraph::count_reached(first, -1);
  for (Op* op : members) DependencyGraph::count_reached(op, -1);
  return good && !members.empty();
}

// Members whose results were to be read only by ops that have been dropped meanwhile are dropped, too.
bool GroupSearch::find(Op* first, size_t most, Before before) {
  std::vector<Op*>& members = first->members;
  before_ = before;
  for (bool any = true; any;) {
    any = false;
    if (!collect(first, most)) return false;
    for (size_t i = members.size(); i-- > 0;)
      if (members[i]->pending_dependencies > 0 && dead_ops_.dead(*members[i])) dead_ops_.drop(members[i]), any = true;
  }
  std::sort(members.begin(), members.end(), [](Op* a, Op* b) { return a->seq < b->seq; });
  return true;
}

}  // namespace forerun
