#include "engine/passes/fusion.h"

#include <algorithm>

namespace forerun {

namespace {

void set_group_cost(Op* first, const std::vector<Op*>& members) {
  first->group_cost = first->cost;
  for (const Op* op : members) first->group_cost += std::min(op->cost, UINT32_MAX - first->group_cost);
}

}  // namespace

bool Fusion::can_lead(Op& op) const {
  return settings_.on(Pass::fuse) && worth(op) && !op.retries_alone && !op.failure && op.kernel()->fusible();
}

bool Fusion::plan_until(uint64_t seq) {
  if (seq < next_) return false;
  for (next_ = std::max(next_, ring_.front(std::memory_order_relaxed)); next_ <= seq; ++next_)
    if (Op* op = ring_.op(next_)) place(op);
  return true;
}

// An op that depends on a slow one, or on one of another queue, is not placed: it is examined again when it may start.
void Fusion::place(Op* op) {
  if (op->placed || op->slow || op->disbanded || op->pending_dependencies != op->placed_dependencies) return;
  const bool leads = !op->started && !op->dropped && can_lead(*op) && DependencyGraph::inputs_ok(op);
  if (leads) plan_behind_(*op);
  if (leads && !dead_ops_.dead(*op)) plan(op);
  DependencyGraph::set_placed(op, true);
}

// Plans a group with `leader` as its first op, if there are ops to fuse with it.
void Fusion::plan(Op* leader) {
  const bool found = search_.find(leader, GroupSearch::kMost, GroupSearch::Before::placed) &&
                     if_memory_allows([&] { leader->planned = std::make_unique<PlannedGroup>(); });
  if (found) {
    leader->planned->kernel = std::move(leader->group);
    leader->planned->members.swap(leader->members);
    wait_planned(leader);
  }
  leader->group.reset(), leader->members.clear();
}

// From now on only its leader is in the queue, once the group has no pending dependencies.
void Fusion::wait_planned(Op* leader) {
  leader->planned->waits = search_.waits();
  leader->leader = leader;
  if (leader->pending_dependencies == 0) leader->queue->remove(leader);
  set_group_cost(leader, leader->planned->members);
  for (Op* op : leader->planned->members) {
    op->leader = leader;
    DependencyGraph::set_placed(op, true);
    if (op->pending_dependencies == 0) op->queue->remove(op);
  }
  if (search_.waits() == 0) leader->queue->push(leader);
}

bool Fusion::may_start(const Op& op) {
  plan_until(op.seq);
  return !op.leader || (op.leader == &op && op.planned->waits == 0);
}

void Fusion::disband(Op* leader) {
  const std::unique_ptr<PlannedGroup> planned = std::move(leader->planned);
  auto leave = [](Op* op) {
    op->leader = nullptr, op->disbanded = true;
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

// Whether no member is dead or inherits a failure.
bool Fusion::is_intact(const PlannedGroup& planned) const {
  return std::none_of(planned.members.begin(), planned.members.end(), [&](Op* op) {
    return op->retries_alone || !DependencyGraph::inputs_ok(op) || dead_ops_.dead(*op);
  });
}

// Makes the planned group of an op that may start its group. False: there is no memory for it yet.
bool Fusion::take_planned(Op* first) {
  PlannedGroup& planned = *first->planned;
  auto exchange = [&] { first->group.swap(planned.kernel), first->members.swap(planned.members); };
  exchange();
  first->group->resume();
  if (admit(first)) return true;
  exchange();
  return false;
}

// Whether an older op without slow dependencies is to start first: the memory of later ops is then not ahead of program
// order.
bool Fusion::comes_early(const Op& op) {
  const Op* older = op.budget->first_unstarted();
  return older && older->seq < op.seq && older->placed;
}

bool Fusion::fuse(Op* first) {
  if (first->placed && !first->planned) return true;  // no op fits
  size_t most = GroupSearch::kMost;
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

// If the budget does not admit all of them at once, tries half of them.
bool Fusion::collect_some(Op* first, size_t most) {
  for (; most > 0 && search_.find(first, most, GroupSearch::Before::ended); most = first->members.size() / 2)
    if (admit(first)) return true;
  first->members.clear();
  first->group.reset();
  return false;
}

void Fusion::start_members(Op* first) {
  const bool queued = !first->planned;  // members without pending dependencies
  first->planned.reset();
  first->leader = nullptr;
  DependencyGraph::set_placed(first, true);
  if (queued) set_group_cost(first, first->members);
  for (Op* op : first->members) {
    op->leader = nullptr;
    DependencyGraph::set_placed(op, true);
    if (queued && op->pending_dependencies == 0) op->queue->remove(op);
    op->to_take = 0;
    op->budget->starts(*op, 0);
    DependencyGraph::mark_materialized(*op, true);
    op->started = true;
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
    s.in_group = 0;  // examined
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
    op->started = false, op->disbanded = true;
    DependencyGraph::set_placed(op, false);
    if (op->pending_dependencies == 0) op->queue->push(op);
  }
  first->members.clear();
  first->group.reset();
  first->group_cost = 0;
}

}  // namespace forerun
