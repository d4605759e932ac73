// Plan: the window becomes a graph. Also here: which ready op is next.
#include <x86intrin.h>

#include "engine/engine.h"
#include "engine/sections.h"

namespace forerun {

namespace {

constexpr int kPlanAtOnce = 256;              // ops planned before others get the lock
constexpr uint64_t kLeaveTicks = 12'000'000;  // some 5 ms
constexpr uint64_t kIssueTicks = 250'000;     // some 100 us

void link_read(Access& a) {
  Storage& s = *a.storage;
  if (s.writer) order(s.writer, a.op(), a.from);
  a.prev = nullptr;
  a.next = s.readers;
  if (s.readers) s.readers->prev = &a;
  s.readers = &a;
  a.linked = true;
}

// A write waits for the write before it and for all reads of what that one left.
void link_write(Access& a) {
  Storage& s = *a.storage;
  if (s.writer && s.writer != a.op()) order(s.writer, a.op(), a.from);
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

// Fresh work is all tiny, and more of it keeps coming: who issues it runs it at its next wait, sooner than it could be
// handed over to another core. Not for longer than some milliseconds.
bool Engine::left_to_issuer() {
  uint64_t head = head_.load(), now = __rdtsc();
  bool comes = head != std::exchange(left_head_, head);
  if (left_since_ == 0) left_since_ = now;
  return comes && unseen_cost_.load(std::memory_order_relaxed) == 0 && now - left_since_ < kLeaveTicks;
}

void Engine::plan() {
  unseen_cost_.store(0, std::memory_order_relaxed);
  left_since_ = 0;
  uint64_t first = planned_.load(std::memory_order_relaxed), last = std::min(head_.load(), first + kPlanAtOnce),
           next = first, now = trace.on() ? Trace::now() : 0;
  bool passed = false;
  for (; next < last; ++next) {
    Op* op = window_[next].load(std::memory_order_acquire);
    if (!op) break;  // its ticket is drawn, but it has not been put down yet
    if (op == &ran_at_once_)
      window_[next].store(nullptr, std::memory_order_relaxed), passed = true;
    else
      link(op, now);
  }
  planned_.store(next, std::memory_order_relaxed);
  if (passed) advance_front();
  bool dropped = passes(Pass::drop) && drop_dead(first, next);
  auto each_ready = [&](bool dropped, auto f) {
    for (uint64_t seq = first; seq < next; ++seq) {
      Op* op = window_.op(seq);
      if (op && op->unmet == 0 && op->dropped == dropped) f(op);
    }
  };
  each_ready(false, [](Op* op) { op->queue->push(op); });
  if (dropped) each_ready(true, [&](Op* op) { end(op); });
}

[[gnu::noinline]] void Engine::record_reads(Op& op) {
  for (int i = 0; i < op.n_access; ++i)
    if (const Access& a = op.access(i); a.mode != Mode::write)
      each_write_read(a, [&](uint64_t seq) { trace.depends(*op.record, seq); });
}

bool Engine::by_parts(const Op& op) const {
  return op.cost >= apart_from_.load(std::memory_order_relaxed) && passes(Pass::apart);
}

void Engine::link(Op* op, uint64_t now) {
  OpRecord* record = op->record;
  if (record) [[unlikely]]
    record_reads(*op);
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    Storage& s = *a.storage;
    s.last_use = op->seq;
    ++s.uses;
    if (a.mode != Mode::read) continue;
    if (a.place || s.sections) [[unlikely]]
      link_section_read(a, by_parts(*op));
    else
      link_read(a);
  }
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    if (a.mode == Mode::read) continue;
    Storage& s = *a.storage;
    s.last_write = op->seq;
    if (a.place || s.sections) [[unlikely]] {
      if (link_section_write(a, by_parts(*op))) continue;
    } else {
      link_write(a);
    }
    s.last_whole = op->seq;
  }
  op->name = op->kernel()->name();
  if (record) record->planned = now, trace.named(*record, op->name);
  op->n_tiles = op->tiles_left = op->kernel()->tiles();
  op->next_tile = 0;
  op->budget->planned(op, op->queue->kind == Queue::Kind::io);
}

// The oldest ready op that may start now; an urgent one before the others.
Op* Engine::admissible(Queue& queue, uint32_t most) {
  auto may = [&](Op* op) { return (most <= kSmallCost ? op->cost : piece_cost(*op)) <= most && start(op); };
  bool tasks = most == kAnyCost;
  Op* top = queue.top(tasks);
  while (top && passes(Pass::drop) && dead(*top)) {
    queue.remove(top);
    drop(top);
    end(top);
    top = queue.top(tasks);
  }
  if (!top) return nullptr;
  queue.refused.store(false, std::memory_order_relaxed);
  if (Op* first = queue.top_urgent(); first && first != top && !(passes(Pass::drop) && dead(*first)) && may(first))
    return queue.remove(first), first;
  if (may(top)) return queue.remove(top), top;
  // Rare: the oldest one needs memory that is not there yet. A few others may need none.
  Op* op = queue.behind(top, tasks);
  for (int looks = 16; op && looks > 0; op = queue.behind(op, tasks), --looks)
    if (may(op)) return queue.remove(op), op;
  auto fails = [&](Op* op) {
    if (op->cost > most || !starves(*op)) return false;
    fail(op, memory_failure(*op));  // nothing is left that could give memory back
    return start(op);
  };
  for (op = queue.top_inner(tasks); op; op = queue.inner_behind(op, tasks))
    if (may(op) || fails(op)) return queue.remove(op), op;
  if (top->cost <= most && starves(*top)) {
    for (op = queue.behind(top, tasks); op; op = queue.behind(op, tasks))
      if (Budget::needs(*op) == 0 && may(op)) return queue.remove(op), op;
    if (fails(top)) return queue.remove(top), top;
  }
  queue.refused.store(true, std::memory_order_relaxed);
  if (top->cost <= most) queue.refused_at = ended_ops_;
  return nullptr;
}

// Whether all before it has ended, on other devices too, which may have held arrays of this one, and of its budget
// `running` ops run. Tasks may wait for it. If they all wait, it counts as alone beside them; what a task has issued
// does so in any case.
bool Engine::alone(const Op& op, int running) const {
  int own = op.started && op.is_task();
  if (op.budget->running - op.budget->tasks + own != running) return false;
  auto none_before = [&](const Device* device) {
    const Op* first = device->budget->first();
    return !first || first->seq >= op.seq;
  };
  return op.inner || (tasks_wait() && std::all_of(made_.begin(), made_.end(), none_before));
}

// Nothing that a task is at will give memory back by itself.
bool Engine::tasks_wait() const {
  return std::all_of(queues_.begin(), queues_.end(), [](const Queue* q) { return q->tasks == q->waiting; });
}

// Modelled in tests/model/budget.py. Whether it is the oldest op, nothing of its budget runs or can run on another
// queue, and still it lacks memory.
bool Engine::starves(Op& op) {
  Budget& budget = *op.budget;
  if (!alone(op, 0) || !over_limit(op)) return false;
  bool all = op.to_take + budget.occupied() <= budget.hard.load();  // the devices together have too much
  if (all &&
      std::any_of(made_.begin(), made_.end(), [](const Device* d) { return d->budget->running > d->budget->tasks; }))
    return false;
  for (Queue* q : queues_)
    if (q != op.queue && (all || q->budget == &budget))
      for (Op* other = q->top(!op.inner); other; other = q->behind(other, !op.inner))
        if (Budget::needs(*other) == 0) return false;
  return true;
}

bool Engine::over_limit(const Op& op) const {
  const Budget& budget = *op.budget;
  return op.to_take > 0 && (op.to_take + budget.occupied() > budget.hard.load() ||
                            op.to_take + occupied_by_all() > shared_limits_.hard_of_all);
}

// With one core left, an older op of another queue whose worker sleeps goes first.
bool Engine::older_elsewhere(const Queue& queue, uint64_t seq) {
  if (queue.workers == 0 || queue.kind == Queue::Kind::io || busy_ + 1 < cores_) return false;
  for (Queue* q : queues_) {
    if (q == &queue || q->kind == Queue::Kind::io || !q->top() || q->top()->seq > seq || q->sleeping.load() == 0)
      continue;
    if (q->refused_at == ended_ops_) continue;  // it may not start yet
    q->sleepers.wake_one(places_);
    return gave_way_ = true;
  }
  return false;
}

// The front end is issuing, or has just seen a wait end: it needs a core. (A thread that waits does not: it works in a
// worker's place.)
bool Engine::issuing() {
  uint64_t head = head_.load(), now = __rdtsc();
  if (head != std::exchange(issue_head_, head)) issue_seen_ = now;
  uint64_t seen = std::max(issue_seen_, resumed_.load(std::memory_order_relaxed));
  return helping_.load() == 0 && (now < seen || now - seen < kIssueTicks);
}

bool Engine::pick(Queue& queue, uint32_t most, Batch& batch) {
  bool counted = queue.kind != Queue::Kind::io;
  gave_way_ = false;
  if (gate_ || (counted && (busy_ >= cores_ || queue.full()))) return false;
  if (counted && busy_ > 0 && busy_ + 1 == cores_ && issuing()) {
    gave_way_ = true;
    return false;
  }
  if (queue.workers == 0 && most > kSmallCost) most = kAnyCost;
  Op* shared = queue.sharing.empty() || most <= kSmallCost ? nullptr : queue.sharing.front();
  if (shared && piece_cost(*shared) > most) shared = nullptr;
  Op* top = queue.top(most == kAnyCost);
  if (top && top->cost >= fuse_from_.load(std::memory_order_relaxed) && fresh_work()) {  // what it may be joined with
    plan();
    ended_early_ = true;
  }
  if (!shared && !top) return false;
  bool begun = shared && shared->urgent, urgent = begun || queue.top_urgent() != nullptr;
  bool share = shared && (!top || shared->seq < top->seq);
  if (!urgent && older_elsewhere(queue, share ? shared->seq : top->seq)) return false;
  Op* op = begun || (share && !urgent) ? nullptr : admissible(queue, most);
  if (!op && !shared) return false;
  // Nobody knows how long a host task takes, and it may sleep: it holds no core, so that who waits may work beside it.
  if (counted && !(op && op->is_task())) batch.held = &queue, ++busy_, ++queue.busy, batch.cpu = places_.begin();
  if (!op) {
    batch.work[batch.n++] = Work{shared, shared->next_tile++}, batch.sure = 1;
    if (shared->next_tile == shared->n_tiles) queue.sharing.pop_front();
  } else {
    batch.work[batch.n++] = Work{op, 0};
    most = std::min(most, kSmallCost - 1);
    bool small = op->cost < kSmallCost;
    while (small && batch.n < kBatch && (op = admissible(queue, most))) batch.work[batch.n++] = Work{op, 0};
    batch.sure = batch.n;
    if (small) follow(batch, most);
  }
  queue.tasks += batch.work[0].op->is_task();  // which is alone in its batch
  return true;
}

// For a waiting thread: from the queue whose work is oldest; if none of that may start, from the next. What it waits
// for may stand in any of them, and their own workers may be in tasks that wait, too.
bool Engine::pick_any(Batch& batch, uint32_t most) {
  auto oldest_of = [&](Queue& q) {
    if (!q.has_work() || (q.kind == Queue::Kind::io && q.workers > 0)) return UINT64_MAX;
    Op* top = q.top(most == kAnyCost || (q.workers == 0 && most > kSmallCost));
    return std::min(top ? top->seq : UINT64_MAX, q.sharing.empty() ? UINT64_MAX : q.sharing.front()->seq);
  };
  for (uint64_t looked = 0;;) {
    Queue* oldest = nullptr;
    uint64_t first = UINT64_MAX;
    for (Queue* q : queues_)
      if (uint64_t seq = oldest_of(*q); seq > looked && seq < first) first = seq, oldest = q;
    if (!oldest) return false;
    if (pick(*oldest, most, batch)) return true;
    looked = first;
  }
}

// The budget has refused it: as more would be live than may be, or only as its turn has not come.
bool Engine::hold(Op& op) {
  op.refused_after = ended_ops_, op.refused_beside = op.budget->occupied();
  bool over = op.budget->over(op);
  op.queue->over.store(over, std::memory_order_relaxed);
  if (op.record) op.record->flags = op.record->flags | (over ? OpRecord::over : OpRecord::held);
  return false;
}

// Of several failures it has the one that a program without an engine would have met.
void Engine::inherit(Op& op, const Access& a) {
  FailurePtr bad = a.storage->failure_in(op.region(a));
  if (bad && (!op.failure || bad->earlier(*op.failure))) op.failure = bad;
}

// To look at an op of very many arrays takes long: it is not done again before an op has ended or memory has come back.
bool Engine::refused_before(const Op& op) const {
  if (op.n_access <= kManyArrays || op.inner || op.failure || op.refused_after != ended_ops_) return false;
  return op.refused_beside == op.budget->occupied() && op.budget->first() != &op;
}

bool Engine::start(Op* op) {
  if (refused_before(*op)) return false;
  op->to_take = 0;
  bool parts = false;
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    if (a.mode != Mode::write && a.storage->failure) [[unlikely]]
      inherit(*op, a);
    parts |= a.apart;
    if (a.mode != Mode::read && !a.storage->taken()) op->to_take += a.storage->charged();
  }
  Budget& budget = *op->budget;
  if (parts && !op->failure && !prepare_sections(*op)) [[unlikely]]
    return hold(*op);
  if (op->failure) op->to_take = 0;
  bool sharing = passes(Pass::reuse) && op->to_take > 0;
  size_t whole = op->to_take;
  if (sharing) op->to_take -= reuse(op, false);
  if (op->needs_turn && !alone(*op, 0)) return false;
  if (over_limit(*op) || !((budget.admits(*op) && !crowded(*op)) || (budget.first() == op && tasks_wait())))
    return hold(*op);
  size_t own = op->to_take;
  if (passes(Pass::fuse) && op->cost >= fuse_from_.load(std::memory_order_relaxed) && op->unmet == 0 &&
      !op->needs_turn && !op->failure && op->kernel()->fusible())
    gather(op);
  if (sharing) {
    size_t saved = reuse(op, true);
    op->to_take = (op->group ? op->to_take : whole) - saved;
    reused_ += saved;
  }
  budget.starts(*op, std::min(own, op->to_take));
  promise(*op, true);
  op->started = true;
  return true;
}

// It has not run. If it found no memory it tries again when it is the oldest and nothing else runs.
void Engine::put_back(Op* op, bool no_memory) {
  undo_reuse(op);
  if (op->group) dissolve(op);
  Budget& budget = *op->budget;
  if (!no_memory) budget.reserved.fetch_sub(op->to_take, std::memory_order_relaxed);  // else take_memory() has
  budget.undo_start(*op);
  promise(*op, false);
  op->started = false;
  op->needs_turn = no_memory;
  if (op->unmet == 0) op->queue->push(op);
}

void Engine::end(Op* op) {
  for (Op* member : op->members) {
    member->failure = op->failure;
    end_one(member, op);
  }
  end_one(op, op->members.empty() ? nullptr : op);
  while (!idle_dropped_.empty()) {
    end_one(idle_dropped_.pop_front());
  }
  if (!op->started) ended_early_ = true;
}

// What it waited for has ended.
void Engine::ready(Op* op) {
  if (op->dropped)
    idle_dropped_.push_back(op);
  else if (!op->started)
    op->queue->push(op);
}

// The op needs a storage no longer. If it was the last, the budget knows at once; the memory itself follows without the
// lock.
void Engine::let_go(Op& op, Storage& s) {
  if (s.release_unless_last()) return;
  size_t freed = s.charged() ? s.write_off() : 0;
  if (s.budget == op.budget) op.freed += freed;
  let_go_.push_back(&s);
}

void Engine::end_one(Op* op, const Op* group) {
  if (op->record) record(*op, group);
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    Storage& s = *a.storage;
    leave(a);
    if (a.mode != Mode::read) {
      if (a.mode == Mode::write)
        s.set_failure(op->failure);
      else if (op->failure) [[unlikely]]
        s.spoil(op->region(a), op->failure);
      count_end(a);
      if (s.watched.load()) tell(s);
    }
    let_go(*op, s);
  }
  for (Edge* edge : op->successors)
    if (--edge->after->unmet == 0) ready(edge->after);
  ++ended_ops_;
  op->budget->ends(*op);
  window_[op->seq].store(nullptr, std::memory_order_relaxed);
  Budget& budget = *op->budget;
  while (Op* done = budget.retire()) retired_.push_back(done);
  advance_front();
}

void Engine::advance_front() {
  uint64_t front = front_.load(std::memory_order_relaxed), planned = planned_.load(std::memory_order_relaxed);
  while (front < planned && !window_.op(front)) ++front;
  front_.store(front);
  if (front >= watch_mark_.load()) watch_mark_.store(UINT64_MAX), notify_ = true;
}

}  // namespace forerun
