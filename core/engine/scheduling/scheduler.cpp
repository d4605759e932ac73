#include "engine/scheduling/scheduler.h"

#include <utility>

namespace forerun {

namespace {

constexpr int kPlanAtOnce = 256;  // ops planned before other threads get the lock

// Which host tasks a thread may take if it takes operations of this cost at most.
Queue::Tasks tasks_of(uint32_t most) {
  return most == kAnyCost ? Queue::Tasks::all : most > kCatchUpCost ? Queue::Tasks::brief : Queue::Tasks::none;
}

}  // namespace

void Scheduler::plan() {
  producer_.planned();
  uint64_t first = ring_.planned(), last = std::min(ring_.next(), first + kPlanAtOnce), next = first,
           now = recorder_.now();
  bool passed = false;
  for (; next < last; ++next) {
    Op* op = ring_.peek(next);
    if (!op) break;  // its number is drawn, but it has not been stored yet
    if (op == SubmissionRing::ended_already())
      ring_.clear(next), passed = true;
    else
      graph_.add(op, op->cost >= settings_.apart_from() && settings_.on(Pass::apart), now);
  }
  ring_.set_planned(next);
  if (passed) graph_.advance_front();
  bool dropped = dead_ops_.drop_all(first, next);
  auto each_ready = [&](bool dropped, auto f) {
    for (uint64_t seq = first; seq < next; ++seq) {
      Op* op = ring_.op(seq);
      if (op && op->may_start() && op->dropped == dropped) f(op);
    }
  };
  each_ready(false, [](Op* op) { op->queue->push(op); });
  if (dropped)
    each_ready(true, [&](Op* op) {
      if (op->pending_dependencies == 0) graph_.end(op);
    });
}

// Plans the submitted ops that it may be fused with.
void Scheduler::plan_behind(const Op& op) {
  for (uint64_t seen = 0;
       ring_.has_fresh() && ring_.planned() != seen && ring_.planned() - op.seq < GroupSearch::kReach;) {
    seen = ring_.planned();
    plan();
    graph_.mark_changed();
  }
}

// The oldest ready op, with its group and all ops before it planned. Dead ones are dropped.
Op* Scheduler::oldest_ready(Queue& queue, Queue::Tasks tasks) {
  if (Op* first = queue.top_urgent()) fusion_.plan_until(first->seq);
  for (;;) {
    Op* top = queue.top(tasks);
    if (!top) return nullptr;
    if (fusion_.plan_until(top->seq)) continue;  // it may now be in a group that waits
    if (!dead_ops_.dead(*top)) return top;
    if (top->planned) Fusion::disband(top);
    queue.remove(top);
    dead_ops_.drop(top);
    if (top->pending_dependencies == 0) graph_.end(top);
  }
}

// The oldest ready op that may start now; an urgent one comes first. Or only this op (not null), ahead of program
// order.
Op* Scheduler::admissible(Queue& queue, uint32_t most, Op* only) {
  auto may = [&](Op* op) {
    const bool cheap = op->brief ? most > kCatchUpCost : (most <= kCatchUpCost ? op->cost : tile_cost(*op)) <= most;
    return cheap && fusion_.may_start(*op) && start(op);
  };
  if (only) {
    // A refusal ahead of program order does not count: the op might not be examined again until older ones have ended.
    const uint64_t recheck_at = only->recheck_at, refused_after = only->refused_after;
    const auto flags = only->record ? only->record->flags : 0;
    if (may(only)) return queue.remove(only), only;
    only->recheck_at = recheck_at, only->refused_after = refused_after;
    if (only->record) only->record->flags = flags;
    return nullptr;
  }
  const Queue::Tasks tasks = tasks_of(most);
  Op* top = oldest_ready(queue, tasks);
  if (!top) return nullptr;
  queue.refused.store(false, std::memory_order_relaxed);
  if (Op* urgent = queue.top_urgent(); urgent && urgent != top && !dead_ops_.dead(*urgent) && may(urgent))
    return queue.remove(urgent), urgent;
  if (may(top)) return queue.remove(top), top;
  // Rare: the oldest one needs memory that is not available yet. A few others may need none.
  Op* op = queue.behind(top, tasks);
  for (int looks = 16; op && looks > 0; op = queue.behind(op, tasks), --looks)
    if (may(op)) return queue.remove(op), op;
  auto fails = [&](Op* op) {
    if (op->cost > most || !memory_.is_starved(*op)) return false;
    memory_.fail(*op);  // nothing is left that could release memory
    return start(op);
  };
  for (op = queue.top_inner(tasks); op; op = queue.inner_behind(op, tasks))
    if (may(op) || fails(op)) return queue.remove(op), op;
  if (top->cost <= most && memory_.is_starved(*top)) {
    for (op = queue.behind(top, tasks); op; op = queue.behind(op, tasks))
      if (MemoryBudget::needs(*op) == 0 && may(op)) return queue.remove(op), op;
    if (fails(top)) return queue.remove(top), top;
  }
  // If nothing runs that could release memory, the oldest op must not wait for younger ones that need memory.
  const MemoryBudget& budget = *queue.budget;
  if (top->cost <= most && budget.running == budget.tasks && Fusion::release(budget.first()))
    return admissible(queue, most);
  queue.refused.store(true, std::memory_order_relaxed);
  if (top->cost <= most) queue.refused_at = graph_.ended();
  return nullptr;
}

// With one core left, an older op of another queue whose worker sleeps comes first.
bool Scheduler::left_to_older(const Queue& queue, uint64_t seq) {
  if (queue.workers == 0 || !queue.computes() || busy_ + 1 < cores_) return false;
  for (Queue* q : devices_.queues()) {
    if (q == &queue || !q->computes() || !q->top() || q->top()->seq > seq || q->sleeping.load() == 0) continue;
    if (q->refused_at == graph_.ended()) continue;  // it may not start yet
    q->parked.wake_one(cpus_);
    return gave_way_ = true;
  }
  return false;
}

bool Scheduler::pick(Queue& queue, uint32_t most, Batch& batch, Op* only) {
  bool counted = queue.computes();
  gave_way_ = false;
  if (gate_closed() || (counted && (all_cores_busy() || queue.full()))) return false;
  if (counted && busy_ > 0 && busy_ + 1 == cores_ && producer_.active()) {
    gave_way_ = true;
    return false;
  }
  if (queue.workers == 0 && most > kCatchUpCost) most = kAnyCost;
  Op* shared = queue.sharing.empty() || most <= kSmallCost ? nullptr : queue.sharing.front();
  if (shared && tile_cost(*shared) > most) shared = nullptr;
  Op* top = queue.top(tasks_of(most));
  if (!shared && !top) return false;
  bool begun = shared && shared->urgent, urgent = begun || only || queue.top_urgent() != nullptr;
  bool share = shared && (!top || shared->seq < top->seq);
  if (!urgent && left_to_older(queue, share ? shared->seq : top->seq)) return false;
  Op* op = !only && (begun || (share && !urgent)) ? nullptr : admissible(queue, most, only);
  if (!op && (only || !shared)) return false;
  // The duration of a host task is not known, and it may sleep: it occupies no core, so that a waiting thread may work
  // beside it.
  if (counted && !(op && op->is_task())) batch.held = &queue, ++busy_, ++queue.busy, batch.cpu = cpus_.begin();
  if (!op) {
    batch.work[batch.n++] =
        Work{.op = shared, .tile = queue.take_shared(CpuOccupancy::takes_last(batch.cpu)), .joins = true};
    batch.sure = 1;
  } else {
    batch.work[batch.n++] = Work{op};
    op->brief = op->brief && most < kAnyCost;
    most = std::min(most, kSmallCost - 1);
    bool small = op->cost < kSmallCost && !queue.lane;
    while (small && batch.n < Batch::kMost && (op = admissible(queue, most))) batch.work[batch.n++] = Work{op};
    batch.sure = batch.n;
    if (small) add_followers(batch, most);
  }
  queue.tasks += batch.is_task();
  return true;
}

// The op that writes all of a storage, or the first one of its group, if it is in its queue and a waiting thread may
// run it.
Op* Scheduler::ready_writer(const Storage& wanted) {
  if (!wanted.writer && ring_.has_fresh() && !gate_closed()) plan(), graph_.mark_changed();
  Op* op = wanted.writer;
  if (!op) return nullptr;
  fusion_.plan_until(op->seq);
  if (op->leader) op = op->leader;
  const bool waits = op->planned && op->planned->waits > 0, helps = op->queue->computes();
  return helps && op->may_start() && !op->started && !op->dropped && !waits ? op : nullptr;
}

// The op that the thread waits for may be in any queue, and the workers of a queue may run tasks that wait, too.
bool Scheduler::pick_any(Batch& batch, uint32_t most, const Storage* wanted) {
  if (Op* first = wanted ? ready_writer(*wanted) : nullptr; first && pick(*first->queue, most, batch, first))
    return true;
  auto oldest_of = [&](Queue& q) {
    if (!q.has_work() || (!q.computes() && q.workers > 0 && !q.attended)) return UINT64_MAX;
    Op* top = q.top(tasks_of(q.workers == 0 && most > kCatchUpCost ? kAnyCost : most));
    return std::min(top ? top->seq : UINT64_MAX, q.sharing.empty() ? UINT64_MAX : q.sharing.front()->seq);
  };
  for (uint64_t looked = 0;;) {
    Queue* oldest = nullptr;
    uint64_t first = UINT64_MAX;
    for (Queue* q : devices_.queues())
      if (uint64_t seq = oldest_of(*q); seq > looked && seq < first) first = seq, oldest = q;
    if (!oldest) return false;
    if (pick(*oldest, most, batch)) return true;
    looked = first;
  }
}

// Small ops that depend only on ops of the batch, which run before them and can fail only for lack of memory, are added
// to it: a chain of ops is run at once.
void Scheduler::add_followers(Batch& batch, uint32_t most) {
  auto sure = [](Op* op) { return op->to_take == 0 && op->n_tiles == 1 && !op->failure && op->kernel()->droppable(); };
  int looked = 0;
  for (; looked < batch.n; ++looked) {
    Op* op = batch.work[looked].op;
    if (!sure(op)) continue;
    DependencyGraph::count_reached(op, 1);
    for (Edge* edge : op->successors) {
      Op* next = edge->dependent;
      if (next->pending_dependencies != next->reached || next->started || next->dropped || next->cost > most ||
          next->queue != op->queue || next->leader)
        continue;
      if (batch.n < Batch::kMost && DependencyGraph::inputs_ok(next) && start(next)) batch.work[batch.n++] = Work{next};
    }
  }
  for (int i = 0; i < looked; ++i)
    if (sure(batch.work[i].op)) DependencyGraph::count_reached(batch.work[i].op, -1);
}

bool Scheduler::start(Op* op) {
  if (memory_.refused_before(*op)) return false;
  op->to_take = 0;
  bool parts = false;
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    if (a.mode != Mode::write && a.storage->failure && !a.unwritten) [[unlikely]]
      DependencyGraph::inherit_failure(*op, a);
    parts |= a.apart;
    if (a.mode != Mode::read && !a.storage->taken()) op->to_take += a.storage->charged();
  }
  if (parts && !op->failure && !memory_.prepare_sections(*op)) [[unlikely]]
    return memory_.refuse(*op);
  if (op->failure) op->to_take = 0;
  bool reuses = settings_.on(Pass::reuse) && op->to_take > 0 && !op->queue->lane;
  size_t whole = op->to_take;
  if (reuses) op->to_take -= buffer_reuse_.possible(op);
  if (op->retries_alone && !memory_.alone(*op, 0)) return false;
  if (!memory_.admits(*op)) return memory_.refuse(*op);
  size_t own = op->to_take;
  if (op->pending_dependencies == 0 && fusion_.can_lead(*op)) {
    if (!fusion_.fuse(op)) return memory_.refuse(*op);
  } else if (op->planned) {
    Fusion::disband(op);
  }
  if (reuses) op->to_take = (op->group ? op->to_take : whole) - buffer_reuse_.commit(op);
  op->budget->starts(*op, std::min(own, op->to_take));
  DependencyGraph::mark_materialized(*op, true);
  op->started = true;
  return true;
}

// Puts back an op that has not run. If memory was exhausted, it tries again when it is the oldest and nothing else
// runs.
void Scheduler::put_back(const Work& work) {
  Op* op = work.op;
  BufferReuse::undo(op);
  if (op->group) Fusion::dissolve(op);
  MemoryBudget& budget = *op->budget;
  // otherwise the executor has done so
  if (work.held_back) budget.reserved.fetch_sub(op->to_take, std::memory_order_relaxed);
  budget.undo_start(*op);
  DependencyGraph::mark_materialized(*op, false);
  op->started = false;
  op->retries_alone = work.no_memory;
  op->brief = op->brief && !work.run_later;
  if (op->may_start()) op->queue->push(op);
}

bool Scheduler::finish(Batch& batch, Lock& held) {
  if (!batch.n) return false;
  if (batch.held) --busy_, --std::exchange(batch.held, nullptr)->busy, cpus_.end(batch.cpu);
  for (int i = 0; i < batch.n; ++i) {
    Work& work = batch.work[i];
    Op* op = work.op;
    op->queue->tasks -= op->is_task();
    // Ops that ran beside it the first time may have ended meanwhile, and released memory.
    if (work.no_memory && op->retries_alone && memory_.alone(*op, 1))
      memory_.fail(*op), work.no_memory = false, op->tiles_left = 1;
    if (work.no_memory || work.held_back || work.run_later) {
      put_back(work);
      continue;
    }
    if (op->queue->lane) {
      graph_.handed_over(op, work.accepted);
      continue;
    }
    if (--op->tiles_left > 0) continue;
    if (op->kernel()) {  // with several tiles, of a group, or never run: its kernel still exists
      held.unlock();
      op->drop_kernel();
      for (Op* member : op->members) member->drop_kernel();
      held.lock();
    }
    graph_.end(op);
  }
  batch.n = 0;
  notify_if_no_workers();
  return true;
}

void Scheduler::notify_if_no_workers() {
  if (!devices_.queues().empty() && devices_.queues()[0]->workers == 0) notifier_.make_due();
}

}  // namespace forerun
