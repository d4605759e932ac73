#include "engine/passes/fusion.h"

#include <algorithm>

#include "engine/graph/sections.h"

namespace forerun {

namespace {

bool is_younger(const Op* a, const Op* b) { return a->seq > b->seq; }

}  // namespace

bool Fusion::may_join(const Op& op) const {
  return !op.started && !op.dropped && !op.placed && op.seq > first_->seq && op.seq - first_->seq <= kReach &&
         op.queue == first_->queue && op.budget == first_->budget && op.inner == first_->inner &&
         op.urgent == first_->urgent && op.kernel()->fusible();
}

// Notes an op to be tried, if all that it waits for is in the group; else to be looked behind, once.
void Fusion::look(Op* op) {
  const bool ready = op->pending_dependencies == op->reached + (plans_ ? op->placed_dependencies : 0);
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

// Looks at the operations that read the results of one that was tried.
void Fusion::look_ahead(Op* op) {
  int most = kMostAround;
  for (Edge* edge : op->successors) {
    if (most-- == 0) break;
    look(edge->dependent);
  }
}

// Looks at the other operations that those wait for, and so on.
void Fusion::look_behind() {
  while (n_waiting_ > 0) {
    Op* waits = waiting_[--n_waiting_];
    for (int i = 0; i < waits->n_access; ++i)
      if (Op* writer = writer_of(waits->access(i)); writer && writer->seq < waits->seq) look(writer);
  }
}

// Tries the oldest op that has been found. If it does not fit, none that reads its results does; but others that those
// wait for may.
void Fusion::try_next() {
  std::pop_heap(found_.begin(), found_.begin() + n_found_, is_younger);
  Op* op = found_[--n_found_];
  if (op->retries_alone || !DependencyGraph::inputs_ok(op)) return;
  if (dead_ops_.dead(*op)) {                               // it has lost its handles since it was planned
    if (op->pending_dependencies > 0) dead_ops_.drop(op);  // one that is ready is dropped when it is picked
    return;
  }
  if (first_->group->add(*op)) {
    first_->members.push_back(op);
    DependencyGraph::count_reached(op, 1);
  }
  look_ahead(op);
  look_behind();
}

// Finds the members of a group of `first`: ops that read its results, others that those wait for, and so on; and ops
// that read the same values and write little, as sums do.
void Fusion::gather(Op* first, size_t most) {
  first_ = first, round_ += 2, n_found_ = n_waiting_ = 0, may_find_ = may_wait_ = kMostFound;
  if (round_ == 0) round_ = 2;  // ops that have not been looked at have 0
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

// A group of `first` and of ops that fit, `most` at most. False: there are none, or no memory for a group.
bool Fusion::collect(Op* first, size_t most) {
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

// The same, without members whose results only ops were to read that have been dropped meanwhile.
bool Fusion::collect_live(Op* first, size_t most) {
  std::vector<Op*>& members = first->members;
  for (bool any = true; any;) {
    any = false;
    if (!collect(first, most)) return false;
    for (size_t i = members.size(); i-- > 0;)
      if (members[i]->pending_dependencies > 0 && dead_ops_.dead(*members[i])) dead_ops_.drop(members[i]), any = true;
  }
  std::sort(members.begin(), members.end(), [](Op* a, Op* b) { return a->seq < b->seq; });
  return true;
}

bool Fusion::can_lead(Op& op) const {
  return settings_.on(Pass::fuse) && worth(op) && !op.retries_alone && !op.failure && op.kernel()->fusible();
}

bool Fusion::plan_until(uint64_t seq) {
  if (seq < next_) return false;
  for (next_ = std::max(next_, ring_.front(std::memory_order_relaxed)); next_ <= seq; ++next_)
    if (Op* op = ring_.op(next_)) place(op);
  return true;
}

// An op behind a slow one, or behind one of another queue, is not placed: it is looked at again when it may start.
void Fusion::place(Op* op) {
  if (op->placed || op->is_slow() || op->pending_dependencies != op->placed_dependencies) return;
  const bool leads = !op->started && !op->dropped && can_lead(*op) && DependencyGraph::inputs_ok(op);
  if (leads) plan_behind_(*op);
  if (leads && !dead_ops_.dead(*op)) plan(op);
  DependencyGraph::set_placed(op, true);
}

// Plans a group that `leader` is to be the first op of, if there is one.
void Fusion::plan(Op* leader) {
  plans_ = true;
  const bool found =
      collect_live(leader, kMostFound) && if_memory_allows([&] { leader->planned = std::make_unique<PlannedGroup>(); });
  plans_ = false;
  if (found) {
    leader->planned->kernel = std::move(leader->group);
    leader->planned->members.swap(leader->members);
    wait_planned(leader);
  }
  leader->group.reset(), leader->members.clear();
}

// From now on only its leader is in the queue, once the group waits for nothing.
void Fusion::wait_planned(Op* leader) {
  leader->planned->waits = waits_;
  leader->leader = leader;
  if (leader->pending_dependencies == 0) leader->queue->remove(leader);
  leader->group_cost = leader->cost;
  for (Op* op : leader->planned->members) {
    op->leader = leader;
    DependencyGraph::set_placed(op, true);
    if (op->pending_dependencies == 0) op->queue->remove(op);
    leader->group_cost += std::min(op->cost, UINT32_MAX - leader->group_cost);
  }
  if (waits_ == 0) leader->queue->push(leader);
}

bool Fusion::may_start(const Op& op) {
  plan_until(op.seq);
  return !op.leader || (op.leader == &op && op.planned->waits == 0);
}

void Fusion::disband(Op* leader) {
  const std::unique_ptr<PlannedGroup> planned = std::move(leader->planned);
  auto leave = [](Op* op) {
    op->leader = nullptr;
    DependencyGraph::set_placed(op, false);
    if (op->may_start()) op->queue->push(op);
  };
  if (planned->waits == 0) leader->queue->remove(leader);
  leader->group_cost = 0;
  leave(leader);
  for (Op* op : planned->members) leave(op);
}

bool Fusion::release(const Op* waiting) {
  if (!waiting || !waiting->leader || waiting->leader->planned->waits == 0) return false;
  disband(waiting->leader);
  return true;
}

// Whether no member is dead, or inherits a failure.
bool Fusion::is_intact(const PlannedGroup& planned) const {
  return std::none_of(planned.members.begin(), planned.members.end(), [&](Op* op) {
    return op->retries_alone || !DependencyGraph::inputs_ok(op) || dead_ops_.dead(*op);
  });
}

// The planned group of an op that may start becomes its group. False: there is no memory for it yet.
bool Fusion::take_planned(Op* first) {
  PlannedGroup& planned = *first->planned;
  auto exchange = [&] { first->group.swap(planned.kernel), first->members.swap(planned.members); };
  exchange();
  first->group->resume();
  if (admit(first)) return true;
  exchange();
  return false;
}

// An older op that waits for nothing slow is to start first: what an op takes after that is not ahead of program order.
bool Fusion::comes_early(const Op& op) {
  const Op* older = op.budget->first_unstarted();
  return older && older->seq < op.seq && older->placed;
}

bool Fusion::fuse(Op* first) {
  if (first->placed && !first->planned) return true;  // no op fits
  size_t most = kMostFound;
  if (first->planned) {
    if (is_intact(*first->planned)) {
      if (take_planned(first)) return start_members(first), true;
      if (comes_early(*first)) return false;
      most = first->planned->members.size() / 2;
    }
    disband(first);
  }
  if (collect_some(first, most)) start_members(first);
  return true;
}

// Where the budget does not admit all of them at once, half of them are tried.
bool Fusion::collect_some(Op* first, size_t most) {
  for (; most > 0 && collect_live(first, most); most = first->members.size() / 2)
    if (admit(first)) return true;
  first->members.clear();
  first->group.reset();
  return false;
}

void Fusion::start_members(Op* first) {
  const bool queued = !first->planned;  // members that wait for nothing
  first->planned.reset();
  first->leader = nullptr;
  DependencyGraph::set_placed(first, true);
  first->group_cost = first->cost;
  for (Op* op : first->members) {
    op->leader = nullptr;
    DependencyGraph::set_placed(op, true);
    if (queued && op->pending_dependencies == 0) op->queue->remove(op);
    op->to_take = 0;
    op->budget->starts(*op, 0);
    DependencyGraph::mark_materialized(*op, true);
    op->started = true;
    first->group_cost += std::min(op->cost, UINT32_MAX - first->group_cost);
  }
  ++groups_, fused_ops_ += 1 + first->members.size();
}

// Decides which storages need no memory, and whether the budget admits the rest at once.
bool Fusion::admit(Op* first) {
  each_access(first, [](Access& a) { ++a.storage->in_group; });
  size_t own = first->to_take, take = 0, elided = 0;
  each_access(first, [&](Access& a) {
    Storage& s = *a.storage;
    if (a.mode == Mode::read || s.materialized || s.taken() || s.in_group == 0) return;
    s.elided = s.charged() > 0 && s.uses == s.in_group && s.only_ops(s.uses) && first->group->elide(&s);
    take += s.charged();
    elided += s.elided ? s.bytes : 0;
    s.in_group = 0;  // looked at
  });
  each_access(first, [](Access& a) { a.storage->in_group = 0; });
  first->to_take = take - (settings_.on(Pass::reuse) ? buffer_reuse_.possible(first) : 0);
  if (devices_.over_limit(*first) || !first->budget->admits_group(*first, own)) {
    each_access(first, [](Access& a) { a.storage->elided = false; });
    first->to_take = own;
    return false;
  }
  first->to_take = take;
  elided_bytes_ += elided;
  return true;
}

void Fusion::dissolve(Op* first) {
  auto restore = [](Op* op) {
    for (int i = 0; i < op->n_access; ++i) op->access(i).storage->elided = false;
  };
  restore(first);
  for (Op* op : first->members) {
    restore(op);
    op->budget->undo_start(*op);
    DependencyGraph::mark_materialized(*op, false);
    op->started = false;
    DependencyGraph::set_placed(op, false);
    if (op->pending_dependencies == 0) op->queue->push(op);
  }
  first->members.clear();
  first->group.reset();
  first->group_cost = 0;
}

}  // namespace forerun
