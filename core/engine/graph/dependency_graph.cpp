#include "engine/graph/dependency_graph.h"

#include "engine/devices/memory_budget.h"
#include "engine/devices/queue.h"
#include "engine/graph/sections.h"

namespace forerun {

namespace {

constexpr uint32_t kSlowCost = 100'000;  // ns: groups do not wait for a single-threaded op that takes longer

void link_read(Access& a) {
  Storage& s = *a.storage;
  if (s.writer) order(s.writer, a.op(), a.from), note_before(a, s.writer);
  a.prev = nullptr;
  a.next = s.readers;
  if (s.readers) s.readers->prev = &a;
  s.readers = &a;
  a.linked = true;
}

// A write waits for the previous write and for all reads of its result.
void link_write(Access& a) {
  Storage& s = *a.storage;
  if (s.writer && s.writer != a.op()) order(s.writer, a.op(), a.from), note_before(a, s.writer);
  if (s.readers) note_before(a, s.readers->op());
  for (Access* r = s.readers; r;) {
    Access* next = r->next;
    if (r->op() != a.op()) order(r->op(), a.op(), r->to);
    r->linked = false;
    r = next;
  }
  s.readers = nullptr;
  s.writer = a.op();
}

}  // namespace

void DependencyGraph::add(Op* op, bool by_parts, uint64_t now) {
  if (op->record) [[unlikely]]
    recorder_.reads(*op);
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    Storage& s = *a.storage;
    s.last_use = op->seq;
    ++s.uses;
    if (a.mode != Mode::read) continue;
    if (a.place || s.sections) [[unlikely]]
      link_section_read(a, by_parts);
    else
      link_read(a);
  }
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    if (a.mode == Mode::read) continue;
    Storage& s = *a.storage;
    s.last_write = op->seq;
    if (a.place || s.sections) [[unlikely]] {
      if (link_section_write(a, by_parts)) continue;
    } else {
      link_write(a);
    }
    s.last_whole = op->seq;
  }
  op->name = op->kernel()->name();
  if (op->record) [[unlikely]]
    recorder_.planned(*op, now);
  op->n_tiles = op->tiles_left = op->kernel()->tiles();
  op->slow =
      op->may_wait() || op->queue->lane || (op->cost > kSlowCost && op->n_tiles == 1 && !op->kernel()->fusible());
  op->budget->planned(op, op->queue->kind == Queue::Kind::io);
}

void DependencyGraph::leave(Access& a) {
  Storage& s = *a.storage;
  --s.uses;
  if (a.apart) [[unlikely]]
    return leave_section(a);
  if (a.mode != Mode::read) {
    if (s.writer == a.op()) s.writer = nullptr;
    return;
  }
  if (!a.linked) {
    if (s.writer == a.op()) s.writer = nullptr;  // it was a write when it was planned
    return;
  }
  if (a.prev)
    a.prev->next = a.next;
  else
    s.readers = a.next;
  if (a.next) a.next->prev = a.prev;
  a.linked = false;
}

// Writes of parts that end out of order are counted only when all of them have ended.
void DependencyGraph::count_end(const Access& a) {
  Storage& s = *a.storage;
  uint32_t n = 1;
  if (a.apart | s.held) [[unlikely]] {
    ++s.held;
    if (a.apart && --s.apart > 0) return;
    n = std::exchange(s.held, 0);
  }
  s.ended.fetch_add(n);  // seq_cst, as are `watched` and a waiter's read of both: one of the two sees the other
}

void DependencyGraph::inherit_failure(Op& op, const Access& a) {
  FailurePtr bad = a.storage->failure_in(op.region(a));
  if (bad && (!op.failure || bad->earlier(*op.failure))) op.failure = bad;
}

bool DependencyGraph::inputs_ok(Op* op) {
  for (int i = 0; i < op->n_access; ++i)
    if (op->access(i).mode != Mode::write && op->access(i).storage->failure) return false;
  return true;
}

void DependencyGraph::mark_materialized(Op& op, bool materialized) {
  for (int i = 0; i < op.n_access; ++i)
    if (op.access(i).mode != Mode::read)
      op.access(i).storage->materialized = materialized || op.access(i).storage->taken();
}

void DependencyGraph::count_reached(Op* op, int by) {
  for (Edge* edge : op->successors) edge->dependent->reached += by;
}

void DependencyGraph::set_placed(Op* op, bool placed) {
  if (op->placed == placed) return;
  op->placed = placed;
  for (Edge* edge : op->successors)
    if (edge->dependent->queue == op->queue) edge->dependent->placed_dependencies += placed ? 1 : -1;
}

void DependencyGraph::release(Op& op, Storage& s) {
  if (s.release_unless_last()) return;
  size_t freed = s.charged() ? s.write_off() : 0;
  if (s.budget == op.budget) op.freed += freed;
  released_.storages.push_back(&s);
}

void DependencyGraph::end(Op* op) {
  for (Op* member : op->members) {
    member->failure = op->failure;
    end_one(member, op);
  }
  end_one(op, op->members.empty() ? nullptr : op);
  end_all_idle();
  if (!op->started) changed_ = true;
}

void DependencyGraph::end_all_idle() {
  while (!idle_.empty()) {
    Op* op = idle_.pop_front();
    if (op->completed) find_failure(*op);
    end_one(op);
  }
}

void DependencyGraph::handed_over(Op* op, bool accepted) {
  op->returned = true;
  if (!accepted) op->completed = true;
  if (op->lane_is_done()) {
    idle_.push_back(op);
    return end_all_idle();
  }
  // An op that follows a failed op learns of the failure when that one ends, and is not handed over before.
  if (!accepted) return;
  op->handed_over = true;
  for (Edge* edge : op->successors) {
    Op* next = edge->dependent;
    if (!next->queue->follows(*op->queue)) continue;
    next->follow(*edge);
    if (next->may_start()) dependencies_met(next);
  }
}

void DependencyGraph::completed(Op* op, FailurePtr failure) {
  op->completed = true;
  if (failure) op->failure = std::move(failure), op->unreported = true;
  if (!op->lane_is_done()) return;
  idle_.push_back(op);
  end_all_idle();
}

// For an op of a lane that is about to end: all ops that it follows have ended, so the failures of its operands are
// known. The lane may have reported a failure caused by those.
void DependencyGraph::find_failure(Op& op) {
  const FailurePtr own = op.failure;
  for (int i = 0; i < op.n_access; ++i)
    if (const Access& a = op.access(i); a.mode != Mode::write && a.storage->failure) inherit_failure(op, a);
  if (op.unreported && op.failure == own) failures_.fail(op, own);
}

void DependencyGraph::dependencies_met(Op* op) {
  if (!op->dropped) {
    if (!op->started) op->queue->push(op);
  } else if (op->pending_dependencies == 0) {
    idle_.push_back(op);
  }
}

// With Notifier::watch() modelled in verification/models/completion.py.
void DependencyGraph::end_one(Op* op, const Op* group) {
  if (op->record) recorder_.ended(*op, group);
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    Storage& s = *a.storage;
    leave(a);
    if (a.mode != Mode::read) {
      if (a.mode == Mode::write)
        s.set_failure(op->failure);
      else if (op->failure) [[unlikely]]
        s.poison(op->region(a), op->failure);
      count_end(a);
      if (s.watched.load()) notifier_.write_ended(s);
    }
    release(*op, s);
  }
  for (Edge* edge : op->successors) {
    Op* next = edge->dependent;
    --next->pending_dependencies;
    next->placed_dependencies -= op->placed && op->queue == next->queue;
    if (op->handed_over && next->queue->follows(*op->queue)) [[unlikely]] {
      next->unfollow(*edge);
      if (next->lane_is_done() || (next->dropped && next->pending_dependencies == 0)) idle_.push_back(next);
    } else if (next->leader) {
      if (--next->leader->planned->waits == 0) next->queue->push(next->leader);
    } else if (next->may_start()) {
      dependencies_met(next);
    }
  }
  ++ended_;
  MemoryBudget& budget = *op->budget;
  budget.ends(*op);
  ring_.clear(op->seq);
  while (Op* done = budget.retire()) released_.ops.push_back(done);
  advance_front();
}

void DependencyGraph::advance_front() { notifier_.front_is(ring_.advance_front()); }

}  // namespace forerun
