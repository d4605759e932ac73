// Improve: what waits is a program, and it gets better before it runs. Ops that nobody needs are dropped, ops over the
// same elements are joined, so that what stands between them never reaches memory, and results are written where
// operands stood.
#include <algorithm>

#include "engine/engine.h"
#include "engine/sections.h"

namespace forerun {

namespace {

// Calls `f` for the accesses of an op and of those that are in its group.
template <class F>
void each_access(Op* first, F f) {
  for (int i = 0; i < first->n_access; ++i) f(first->access(i));
  for (Op* op : first->members)
    for (int i = 0; i < op->n_access; ++i) f(op->access(i));
}

}  // namespace

void Engine::promise(Op& op, bool promised) {
  for (int i = 0; i < op.n_access; ++i)
    if (op.access(i).mode != Mode::read) op.access(i).storage->promised = promised || op.access(i).storage->taken();
}

void Engine::leave(Access& a) {
  Storage& s = *a.storage;
  --s.uses;
  if (a.apart) [[unlikely]]
    return leave_section(a);
  if (a.mode != Mode::read) {
    if (s.writer == a.op()) s.writer = nullptr;
    return;
  }
  if (!a.linked) {
    if (s.writer == a.op()) s.writer = nullptr;  // it stood for a write
    return;
  }
  if (a.prev)
    a.prev->next = a.next;
  else
    s.readers = a.next;
  if (a.next) a.next->prev = a.prev;
  a.linked = false;
}

// Nobody holds what it writes, and no other op that is issued uses it. (What can be dropped writes one or two storages,
// however many it reads.)
bool Engine::dead(Op& op) {
  bool writes = false;
  for (int i = 0; i < op.n_access; ++i) {
    if (op.access(i).mode == Mode::read) continue;
    writes = true;
    Storage* s = op.access(i).storage;
    if (s->more_than(static_cast<uint32_t>(op.n_access))) return false;  // most are not
    uint32_t mine = 0;
    for (int k = 0; k < op.n_access; ++k) mine += op.access(k).storage == s;
    if (!s->only_ops(mine)) return false;
  }
  return writes && !op.kept && op.kernel()->droppable();
}

// It will not run. It lets go of its storages now, which may make the ops dead that wrote them; it is to be ended when
// what it waits for has ended, as others may wait for it.
void Engine::drop(Op* op) {
  op->dropped = true;
  ++dropped_;
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    leave(a);
    Storage& s = *a.storage;
    if (a.mode != Mode::read) count_end(a);
    if (s.last_use == op->seq) s.last_use = s.readers ? s.readers->op()->seq : s.writer ? s.writer->seq : 0;
    let_go(*op, s);
  }
  op->n_access = 0;
}

// From the youngest to the oldest, so that a whole string of ops goes at once.
bool Engine::drop_dead(uint64_t first, uint64_t last) {
  bool any = false;
  for (uint64_t seq = last; seq-- > first;) {
    Op* op = window_.op(seq);
    if (op && dead(*op)) drop(op), any = true;
  }
  return any;
}

// The same, for what has lost its handles since it was planned. (What waits for nothing is dropped when its turn
// comes.)
void Engine::without_dead() {
  for (int i = n_found_; i-- > 0;)
    if (found_[i]->unmet > 0 && dead(*found_[i])) drop(found_[i]);
  n_found_ = static_cast<int>(
      std::remove_if(found_.begin(), found_.begin() + n_found_, [](Op* op) { return op->dropped; }) - found_.begin());
}

// Planned ops that `first` might be joined with: what reads its results, what else those wait for, and so on; and what
// reads the same values and writes little, as sums do. In program order; issued after `first`, by `reach` at most.
void Engine::candidates(Op* first, uint64_t reach) {
  n_found_ = 0;
  ++round_;
  first->seen = round_;
  auto look = [&](Op* op) {
    if (n_found_ == kFuseMost || op->seen == round_ || op->started || op->dropped || op->seq < first->seq ||
        op->seq - first->seq > reach)
      return;
    op->seen = round_;
    if (op->queue == first->queue && op->budget == first->budget && op->kernel()->fusible()) found_[n_found_++] = op;
  };
  auto look_around = [&](Op* op) {
    int most = kFuseAround;
    for (Edge* edge : op->successors) {
      if (most-- == 0) break;
      look(edge->after);
    }
    if (op == first) return;
    for (int i = 0; i < op->n_access; ++i)
      if (Op* writer = writer_of(op->access(i)); writer && writer->seq < op->seq) look(writer);
  };
  look_around(first);
  for (int i = 0; i < first->n_access; ++i) {
    const Access& a = first->access(i);
    int most = kFuseAround;
    for (Access* other = a.linked ? readers_of(a) : nullptr; other && most-- > 0; other = other->next)
      if (Budget::needs(*other->op()) <= a.storage->bytes / 8) look(other->op());
  }
  for (int i = 0; i < n_found_; ++i) look_around(found_[i]);
  std::sort(found_.begin(), found_.begin() + n_found_, [](Op* a, Op* b) { return a->seq < b->seq; });
}

void Engine::reach(Op* op, int by) {
  for (Edge* edge : op->successors) edge->after->reached += by;
}

// Whether nothing that it reads is poisoned, as far as is known.
bool Engine::sound(Op* op) {
  for (int i = 0; i < op->n_access; ++i)
    if (op->access(i).mode != Mode::write && op->access(i).storage->failure) return false;
  return true;
}

// Small ops that wait only for ops of the batch, which run before them and fail for want of memory alone, go with it: a
// string of ops is run in one go.
void Engine::follow(Batch& batch, uint32_t most) {
  auto sure = [](Op* op) { return op->to_take == 0 && op->n_tiles == 1 && !op->failure && op->kernel()->droppable(); };
  int looked = 0;
  for (; looked < batch.n; ++looked) {
    Op* op = batch.work[looked].op;
    if (!sure(op)) continue;
    reach(op, 1);
    for (Edge* edge : op->successors) {
      Op* next = edge->after;
      if (next->unmet != next->reached || next->started || next->dropped || next->cost > most ||
          next->queue != op->queue)
        continue;
      if (batch.n < kBatch && sound(next) && start(next)) batch.work[batch.n++] = Work{next, 0};
    }
  }
  for (int i = 0; i < looked; ++i)
    if (sure(batch.work[i].op)) reach(batch.work[i].op, -1);
}

// A group of `first` and of the found ops those that fit, `most` at most. False: there is no memory for one.
bool Engine::collect(Op* first, size_t most) {
  std::vector<Op*>& members = first->members;
  members.clear();
  reach(first, 1);
  bool good = if_memory_allows([&] {
    members.reserve(static_cast<size_t>(n_found_));
    first->group.reset(first->kernel()->new_group(*first));
    for (int i = 0; i < n_found_ && first->group && members.size() < most; ++i) {
      Op* op = found_[i];
      if (op->unmet != op->reached || op->needs_turn || !sound(op) || (passes(Pass::drop) && dead(*op)) ||
          !first->group->add(*op))
        continue;
      members.push_back(op);
      reach(op, 1);
    }
  });
  reach(first, -1);
  for (Op* op : members) reach(op, -1);
  return good && !members.empty();
}

// Finds ops for a group: near ones, and then all, if many of the near ones fit. Else each op of a long string of which
// few go together would be looked at for each of its groups.
bool Engine::gather_from(Op* first, uint64_t reach) {
  candidates(first, reach);
  if (passes(Pass::drop)) without_dead();
  if (n_found_ == 0 || !collect(first, kFuseMost)) return false;
  const bool all = reach == kFuseReach || planned_.load(std::memory_order_relaxed) - first->seq <= reach;
  return all || first->members.size() * 4 < static_cast<size_t>(n_found_) || gather_from(first, kFuseReach);
}

// Makes `first`, which may start, the first of a group if there are ops to join it with. All that a member waits for is
// in the group too, or has ended. Where the budget does not admit all of them at once, half of them are tried.
void Engine::gather(Op* first) {
  std::vector<Op*>& members = first->members;
  bool joined = gather_from(first, kFuseNear) && join(first);
  for (size_t most = members.size() / 2; !joined && most > 0 && collect(first, most); most = members.size() / 2)
    joined = join(first);
  if (!joined) {
    members.clear();
    first->group.reset();
    return;
  }
  first->group_cost = first->cost;
  for (Op* op : members) {
    if (op->unmet == 0) op->queue->remove(op);
    op->to_take = 0;
    op->budget->starts(*op, 0);
    promise(*op, true);
    op->started = true;
    first->group_cost += std::min(op->cost, kAnyCost - first->group_cost);
  }
  ++groups_, grouped_ += 1 + members.size();
}

// Decides which storages need no memory, and whether the budget admits the rest at once.
bool Engine::join(Op* first) {
  each_access(first, [](Access& a) { ++a.storage->in_group; });
  size_t own = first->to_take, take = 0, elided = 0;
  each_access(first, [&](Access& a) {
    Storage& s = *a.storage;
    if (a.mode == Mode::read || s.promised || s.taken() || s.in_group == 0) return;
    s.elided = s.charged() > 0 && s.uses == s.in_group && s.only_ops(s.uses) && first->group->elide(&s);
    take += s.charged();
    elided += s.elided ? s.bytes : 0;
    s.in_group = 0;  // looked at
  });
  each_access(first, [](Access& a) { a.storage->in_group = 0; });
  first->to_take = take - (passes(Pass::reuse) ? reuse(first, false) : 0);
  if (over_limit(*first) || !first->budget->admits_group(*first, own)) {
    each_access(first, [](Access& a) { a.storage->elided = false; });
    first->to_take = own;
    return false;
  }
  first->to_take = take;
  elided_ += elided;
  return true;
}

namespace {

bool note_reuse(Op* op, Op::Reuse pair) {
  return if_memory_allows([&] { op->reused.push_back(pair); });
}

}  // namespace

// How many bytes of an op's outputs, or its group's, need not be taken, as inputs of the same size end with it. If
// `commit`, the outputs have their memory afterwards.
size_t Engine::reuse(Op* first, bool commit) {
  size_t saved = 0;
  each_access(first, [](Access& a) { ++a.storage->in_group; });
  each_access(first, [&](Access& w) {
    Storage& out = *w.storage;
    if (w.mode != Mode::write || out.charged() == 0 || out.taken()) return;
    bool found = false;
    each_access(first, [&](Access& r) {
      Storage& in = *r.storage;
      auto taken = [&](const Op::Reuse& pair) { return pair.in == &in; };
      if (std::any_of(first->reused.begin(), first->reused.end(), taken)) return;
      if (found || r.mode != Mode::read || in.elided || in.bytes != out.bytes || in.budget != out.budget || !in.taken())
        return;
      if (in.uses != in.in_group || !in.only_ops(in.uses) || !first->task()->may_share(*first, &in, &out)) return;
      if (!note_reuse(first, {&in, &out})) return;
      found = !commit || out.take_over(in);
      if (!found) return first->reused.pop_back();
      saved += out.bytes;
      in.elided = commit;
    });
  });
  each_access(first, [](Access& a) { a.storage->in_group = 0; });
  if (!commit) first->reused.clear();
  return saved;
}

void Engine::undo_reuse(Op* op) {
  for (Op::Reuse& pair : op->reused) {
    pair.out->hand_back(*pair.in);
    pair.in->elided = false;
  }
  op->reused.clear();
}

// The members are as before the group was made.
void Engine::dissolve(Op* first) {
  auto restore = [](Op* op) {
    for (int i = 0; i < op->n_access; ++i) op->access(i).storage->elided = false;
  };
  restore(first);
  for (Op* op : first->members) {
    restore(op);
    op->budget->undo_start(*op);
    promise(*op, false);
    op->started = false;
    if (op->unmet == 0) op->queue->push(op);
  }
  first->members.clear();
  first->group.reset();
  first->group_cost = 0;
}

}  // namespace forerun
