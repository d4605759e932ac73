#include "engine/passes/fusion.h"

#include <algorithm>

#include "engine/graph/sections.h"

namespace forerun {

// Planned ops that `first` might be fused with: what reads its results, what else those wait for, and so on; and what
// reads the same values and writes little, as sums do. Submitted after `first`, by `reach` at most.
void Fusion::find_candidates(Op* first, uint64_t reach) {
  n_found_ = 0;
  ++round_;
  first->seen = round_;
  auto look = [&](Op* op) {
    if (n_found_ == kMostFound || op->seen == round_ || op->started || op->dropped || op->seq < first->seq ||
        op->seq - first->seq > reach)
      return;
    op->seen = round_;
    if (op->queue == first->queue && op->budget == first->budget && op->kernel()->fusible()) found_[n_found_++] = op;
  };
  auto look_around = [&](Op* op) {
    int most = kMostAround;
    for (Edge* edge : op->successors) {
      if (most-- == 0) break;
      look(edge->dependent);
    }
    if (op == first) return;
    for (int i = 0; i < op->n_access; ++i)
      if (Op* writer = writer_of(op->access(i)); writer && writer->seq < op->seq) look(writer);
  };
  look_around(first);
  for (int i = 0; i < first->n_access; ++i) {
    const Access& a = first->access(i);
    int most = kMostAround;
    for (Access* other = a.linked ? readers_of(a) : nullptr; other && most-- > 0; other = other->next)
      if (MemoryBudget::needs(*other->op()) <= a.storage->bytes / 8) look(other->op());
  }
  for (int i = 0; i < n_found_; ++i) look_around(found_[i]);
  std::sort(found_.begin(), found_.begin() + n_found_, [](Op* a, Op* b) { return a->seq < b->seq; });
}

// Those that have lost their handles since they were planned. (An op that is ready is dropped when it is picked.)
void Fusion::drop_dead_candidates() {
  for (int i = n_found_; i-- > 0;)
    if (found_[i]->pending_dependencies > 0 && dead_ops_.dead(*found_[i])) dead_ops_.drop(found_[i]);
  n_found_ = static_cast<int>(
      std::remove_if(found_.begin(), found_.begin() + n_found_, [](Op* op) { return op->dropped; }) - found_.begin());
}

// A group of `first` and of the found ops those that fit, `most` at most. False: there is no memory for one.
bool Fusion::collect(Op* first, size_t most) {
  std::vector<Op*>& members = first->members;
  members.clear();
  DependencyGraph::count_reached(first, 1);
  bool good = if_memory_allows([&] {
    members.reserve(static_cast<size_t>(n_found_));
    first->group.reset(first->kernel()->new_group(*first));
    for (int i = 0; i < n_found_ && first->group && members.size() < most; ++i) {
      Op* op = found_[i];
      if (op->pending_dependencies != op->reached || op->retries_alone || !DependencyGraph::inputs_ok(op) ||
          dead_ops_.dead(*op) || !first->group->add(*op))
        continue;
      members.push_back(op);
      DependencyGraph::count_reached(op, 1);
    }
  });
  DependencyGraph::count_reached(first, -1);
  for (Op* op : members) DependencyGraph::count_reached(op, -1);
  return good && !members.empty();
}

// Finds ops for a group: near ones, and then all, if many of the near ones fit. Else each op of a long string of which
// few go together would be looked at for each of its groups.
bool Fusion::collect_near(Op* first, uint64_t reach) {
  find_candidates(first, reach);
  drop_dead_candidates();
  if (n_found_ == 0 || !collect(first, kMostFound)) return false;
  const bool all = reach == kReach || ring_.planned() - first->seq <= reach;
  return all || first->members.size() * 4 < static_cast<size_t>(n_found_) || collect_near(first, kReach);
}

// Where the budget does not admit all of them at once, half of them are tried.
void Fusion::fuse(Op* first) {
  std::vector<Op*>& members = first->members;
  bool fused = collect_near(first, kNear) && admit(first);
  for (size_t most = members.size() / 2; !fused && most > 0 && collect(first, most); most = members.size() / 2)
    fused = admit(first);
  if (!fused) {
    members.clear();
    first->group.reset();
    return;
  }
  first->group_cost = first->cost;
  for (Op* op : members) {
    if (op->pending_dependencies == 0) op->queue->remove(op);
    op->to_take = 0;
    op->budget->starts(*op, 0);
    DependencyGraph::mark_materialized(*op, true);
    op->started = true;
    first->group_cost += std::min(op->cost, UINT32_MAX - first->group_cost);
  }
  ++groups_, fused_ops_ += 1 + members.size();
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
  first->to_take = take - (settings_.on(Pass::reuse) ? BufferReuse::possible(first) : 0);
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
    if (op->pending_dependencies == 0) op->queue->push(op);
  }
  first->members.clear();
  first->group.reset();
  first->group_cost = 0;
}

}  // namespace forerun
