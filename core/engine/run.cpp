// Run: what workers and waiting threads do between two looks at the graph.
#include <immintrin.h>

#include <thread>

#include "engine/engine.h"

namespace forerun {

namespace {

constexpr int kLockSpins = 100;   // tries before a thread sleeps for the lock
constexpr int kWorkerLooks = 30;  // at the window, before a worker sleeps
// Ticks between two looks, some microseconds: a worker that looks at every op steals the issuing thread's cache lines,
// and one that finds several at once plans them at once. Who waits for a result does not wait for this: it works
// itself.
constexpr uint64_t kLookTicks = 8000;
// What the front end may take from one operation to the next, in let_issue(); and how often a worker looks meanwhile.
constexpr uint64_t kLeastQuiet = 6000, kMostQuiet = 150'000, kLook = 1000;
constexpr std::chrono::microseconds kDoze{200}, kShortDoze{30};
constexpr int kDozes = 50;

void pause(int n) {
  for (int i = 0; i < n; ++i) _mm_pause();
}

// Lets time pass, and others run who have been put on the same core.
void pass(uint64_t ticks) {
  std::this_thread::yield();
  for (uint64_t start = __rdtsc(); __rdtsc() - start < ticks;) pause(1);
}

}  // namespace

Engine::Lock Engine::lock() {
  for (int i = 0; i < kLockSpins; ++i) {
    Lock held(mutex_, std::try_to_lock);
    if (held) return held;
    pause(1);
  }
  return Lock(mutex_);
}

thread_local Queue* Engine::task_of_ = nullptr;

void Engine::serve(Queue& queue) {
  Batch batch;
  bool worked = false;
  queue.looking.fetch_add(1);
  for (;;) {
    exchange(batch, &queue, kAnyCost, Idle::leave);
    if (!batch.n && !(worked && spin(queue))) exchange(batch, &queue, kAnyCost, Idle::sleep);
    if (!batch.n && stopping_.load()) break;
    worked = batch.n > 0;
    bool away = batch.cost() > kWakeCost;
    if (away) {
      queue.looking.fetch_sub(1);
      if (fresh_work() && queue.sleeping.load() > 0) wake(queue);  // issued just before: nobody else was told
    }
    bool task = batch.n && batch.work[0].op->is_task();
    if (task) enter_task(queue);
    run(batch);
    if (task) leave_task(queue);
    if (away) queue.looking.fetch_add(1);
  }
  queue.looking.fetch_sub(1);
  Lock held = lock();
  ++queue.left;
  if (--serving_ == 0) stopped_.notify_all();
}

// One thread a queue looks for work for a while before it sleeps, so that short pauses cost no system call.
bool Engine::spin(Queue& queue) {
  if (queue.spinning.exchange(1)) return false;
  bool found = false;
  for (int i = 0; i < kWorkerLooks && !found; ++i) {
    pass(kLookTicks);
    if (gate_.load(std::memory_order_relaxed)) continue;
    // Fresh work that a waiting thread is about to take is left to it.
    found = (queue.seems_busy() && !queue.refused.load(std::memory_order_relaxed)) ||
            (unattended() && unseen_cost_.load() > 0);
  }
  queue.spinning.store(0);
  return found;
}

// Before a worker without work takes up what has just been issued, it lets the front end go on, so that the same
// program is mostly grouped in the same way: until nothing has come for some microseconds, or a sixty-fourth of what
// the work costs, or a sixteenth of that has passed, or there is enough for a group. What is not worth a wake-up is
// mostly waited for at once, and then done sooner by the thread that waits.
void Engine::let_issue() {
  uint64_t head = head_.load();
  for (uint64_t spent = 0;;) {
    const uint64_t cost = unseen_cost_.load(std::memory_order_relaxed);
    const uint64_t quiet = std::clamp(cost / 32, kLeastQuiet, kMostQuiet);
    for (uint64_t left = quiet; left > 0 && unattended(); left -= std::min(left, kLook)) pass(std::min(left, kLook));
    spent += quiet;
    const uint64_t seen = std::exchange(head, head_.load());
    if (!unattended() || head == seen || spent > 4 * kLeastQuiet + cost / 8 ||
        head - planned_.load(std::memory_order_relaxed) >= kFuseReach)
      return;
  }
}

bool Engine::help(uint32_t most, bool& rest) {
  Batch batch;
  exchange(batch, nullptr, most, Idle::leave);
  if (!batch.n) return false;
  helped_.fetch_add(batch.n, std::memory_order_relaxed);
  run(batch);
  exchange(batch, nullptr, 0, Idle::leave);
  rest = batch.rest;
  return true;
}

// Workers that found all cores taken may sleep, and who is at work may be so for long: one of them must look. One that
// dozes does.
void Engine::leave_work() {
  Lock held = lock();
  for (Queue* q : queues_)
    if (wakes(*q) && q->dozing.load() == 0) q->sleepers.wake_one(places_);
}

// A task that waits holds no place, so that another thread can do what it waits for; if none sleeps, one is started,
// and stays.
void Engine::leave_place(Queue& queue) {
  Lock held = lock();
  ++queue.waiting;
  bool too_few = queue.workers > 0 && queue.threads - queue.waiting < queue.workers && queue.sleeping.load() == 0;
  if (too_few && started_ && !stopping_.load()) queue.threads += start_one(queue, queue.threads);
}

void Engine::take_place(Queue& queue) {
  Lock held = lock();
  --queue.waiting;
}

// Whether there is work that a worker which sleeps might take now. While all cores are at work, who is at work looks
// again.
bool Engine::wakes(const Queue& queue) const {
  if (!queue.has_work() || queue.sleeping.load() == 0 || !started_) return false;
  return queue.kind == Queue::Kind::io || (busy_ < cores_ && !queue.full());
}

void Engine::exchange(Batch& batch, Queue* queue, uint32_t most, Idle idle) {
  decltype(retired_) retired;
  decltype(let_go_) let_go;
  bool notify;
  int dozes = 0;
  auto doze = kDoze;
  bool patient = queue != nullptr;
  {
    Lock held = lock();
    bool changed = end_work(batch, held);
    auto find = [&] { return queue ? pick(*queue, most, batch) : pick_any(batch, most); };
    while (most > 0 && !stopping_.load()) {
      // Tiny ops are left to the thread of the front end that is at it.
      bool left = queue && helping_.load() > 0 && queue->only_tiny();
      if (!left && find()) break;
      left = left || (queue && fresh_work() && left_to_issuer());
      if (patient && !left && unattended() && unseen_cost_.load() > 0) {
        patient = false;
        held.unlock();
        let_issue();
        held.lock();
        continue;
      }
      if (!gate_.load() && fresh_work() && !left) {
        plan();
        changed = true;
        if (find()) break;
        if (!queue || (fresh_work() && !left_to_issuer())) continue;
      }
      left = left || (queue && gave_way_);
      changed = changed || std::exchange(ended_early_, false);
      if (idle == Idle::leave || notify_ || !let_go_.empty() || !retired_.empty()) break;  // those first
      if (changed) wake_others(queue, true), changed = false;
      sleep(*queue, held, left || dozes++ < kDozes ? doze : Sleepers::kForever);
      doze = kDoze;
      if (queue->called.exchange(false))
        dozes = 0, doze = kShortDoze;  // for what it was called for, it looks twice, soon
    }
    batch.rest = wake_others(queue, std::exchange(ended_early_, false) || changed, &batch, !queue && most == 0);
    notify = std::exchange(notify_, false);
    retired = retired_.take();
    let_go = let_go_.take();
  }
  while (!let_go.empty()) let_go.pop_front()->release();
  while (!retired.empty()) recycle(retired.pop_front());
  if (notify) notify_waiters();
}

// Modelled in tests/model/wake.py. A worker without work dozes for a while, so that whoever issues small ops need not
// wake it; then it sleeps.
void Engine::sleep(Queue& queue, Lock& held, std::chrono::microseconds limit) {
  bool doze = limit != Sleepers::kForever;
  queue.dozing.fetch_add(doze);
  queue.sleeping.fetch_add(1);
  queue.looking.fetch_sub(1);
  if (doze || gate_.load() || !fresh_work()) queue.sleepers.sleep(held, limit);
  queue.looking.fetch_add(1);
  queue.sleeping.fetch_sub(1);
  queue.dozing.fetch_sub(doze);
}

// Wakes one more worker wherever there is work for it: always for other queues if something `changed`, and for one's
// own if what is left is worth it. (A worker that took something looks here again, so workers wake one another in a
// chain.) `resumes`: a thread that waited takes more itself, or goes on with the program, and then it needs the core
// that it has; who still works looks here again, and who leaves calls leave_work(): true if there is reason to.
bool Engine::wake_others(Queue* mine, bool changed, const Batch* taken, bool resumes) {
  uint64_t cost = taken ? taken->cost() : 0;
  bool rest = false;
  for (Queue* q : queues_) {
    if (!wakes(*q)) continue;
    if (resumes && busy_ > 0 && q->kind == Queue::Kind::compute) {
      rest = true;
      continue;
    }
    if (q->only_tiny() && q->dozing.load() > 0) continue;  // it looks by itself soon
    bool worth = q == mine ? !q->sharing.empty() || q->ready_cost + cost > kWakeCost : changed || mine == nullptr;
    if (worth) q->sleepers.wake_one(places_);
  }
  return rest;
}

bool Engine::end_work(Batch& batch, Lock& held) {
  if (!batch.n) return false;
  if (batch.held) --busy_, --std::exchange(batch.held, nullptr)->busy, places_.end(batch.cpu);
  for (int i = 0; i < batch.n; ++i) {
    Work& work = batch.work[i];
    Op* op = work.op;
    op->queue->tasks -= op->is_task();
    if (work.no_memory && alone(*op, 1)) fail(op, memory_failure(*op)), work.no_memory = false, op->tiles_left = 1;
    if (work.no_memory || work.held_back) {
      put_back(op, work.no_memory);
      continue;
    }
    if (--op->tiles_left > 0) continue;
    if (op->kernel()) {  // of several tiles, of a group, or never run: its kernel still lives
      held.unlock();
      op->drop_kernel();
      for (Op* member : op->members) member->drop_kernel();
      held.lock();
    }
    end(op);
  }
  batch.n = 0;
  if (queues_.size() && queues_[0]->workers == 0) notify_ = true;
  return true;
}

void Engine::run(Batch& batch) {
  const bool task = batch.n && batch.work[0].op->is_task();
  Queue* outer = task ? std::exchange(task_of_, batch.work[0].op->queue) : nullptr;
  RunningTask running{task ? batch.work[0].op : nullptr, running_};
  if (task) running_ = &running;
  bool sound = true;
  for (int i = 0; i < batch.n; ++i) {
    Work& work = batch.work[i];
    if ((work.held_back = !sound && i >= batch.sure)) continue;
    run(work);
    sound = sound && !work.no_memory && !(work.op->n_tiles == 1 && work.op->failure);
  }
  if (task) task_of_ = outer, running_ = running.outer;
}

void Engine::run(Work& work) {
  Op* op = work.op;
  bool poisoned = work.tile == 0 && op->failure;  // set before it started; other tiles may set it later
  if (work.tile == 0 && !poisoned) {
    uint64_t started = op->record ? Trace::now() : 0;
    if (!take_memory(*op)) {
      work.no_memory = true;
      return;
    }
    if (op->record) op->record->started = started, op->record->live_started = op->budget->live_kib();
    guarded(*op, [&] {
      try {
        op->task()->prepare(*op);
      } catch (const std::bad_alloc&) {
        if (!op->group) throw;
        work.no_memory = true;  // for the group; its ops may still run one by one
      }
      if (op->group && !work.no_memory) op->n_tiles = op->tiles_left = op->group->tiles();
    });
    if (work.no_memory) return;
    poisoned = op->failure != nullptr;
  }
  if (poisoned) {
    op->tiles_left = 1;  // nothing to compute, and no tile has been given away
  } else if (work.tile == 0 && op->n_tiles > 1) {
    run_tiles(work);
  } else {
    run_kernel(work);
    if (op->n_tiles == 1 && !op->group) op->drop_kernel();
  }
}

void Engine::run_kernel(Work& work) {
  OpRecord* record = work.op->n_tiles > 1 ? work.op->record : nullptr;
  uint64_t started = record ? Trace::now() : 0;
  guarded(*work.op, [&] { work.op->task()->run(*work.op, work.tile); });
  if (record) trace.tile(*record, started, Trace::now());
}

// Calls `f`, which may throw; then the op has failed. before: of one that runs at once its place among those.
template <class F>
void Engine::guarded(Op& op, F f, uint64_t before) {
  FailurePtr thrown;  // outlives the lock below: it may own things of the front end
  try {
    f();
  } catch (const Error& error) {
    thrown = failure(error.kind, op, [&] { return error.what(); }, error.exception, before);
  } catch (const std::bad_alloc&) {
    thrown = failure(
        ErrorKind::memory, op, [&] { return std::string(op.kernel()->name()) + ": scratch memory must be available"; },
        nullptr, before);
  } catch (const std::exception& error) {
    thrown = failure(
        ErrorKind::runtime, op, [&] { return std::string(op.kernel()->name()) + ": " + error.what(); }, nullptr,
        before);
  }
  if (!thrown) return;
  Lock held = lock();
  if (!op.failure) fail(&op, thrown);
}

// All of an op's kernel, in this thread, at once.
void Engine::run_whole(Op& op) {
  guarded(
      op,
      [&] {
        Kernel& kernel = *op.kernel();
        kernel.prepare(op);
        for (int64_t tile = 0, n = kernel.tiles(); tile < n; ++tile) kernel.run(op, tile);
      },
      at_once);
}

template <class F>
FailurePtr Engine::failure(ErrorKind kind, const Op& op, F message, std::shared_ptr<void> exception,
                           uint64_t before) const {
  try {
    auto made = std::make_shared<Failure>();
    made->kind = kind, made->site = op.site, made->number = op.seq, made->before = before, made->message = message(),
    made->exception = std::move(exception);
    return made;
  } catch (const std::bad_alloc&) {
    no_memory_->seen.store(false);
    return no_memory_;
  }
}

// Modelled in tests/model/tiles.py. The first tile of several: now that its outputs have memory, other workers may
// join.
void Engine::run_tiles(Work& work) {
  Op* op = work.op;
  {
    Lock held = lock();
    op->next_tile = 1;
    op->queue->sharing.insert(
        op, [op](Op* other) { return other->urgent == op->urgent ? other->seq > op->seq : op->urgent; });
    wake_others(op->queue, true);
  }
  run_kernel(work);
}

bool Engine::take_memory(Op& op) {
  bool grouped = op.group != nullptr;  // then another member may read what a write replaces
  auto has = [&](Op& one) {
    for (int i = 0; i < one.n_access; ++i) {
      Access& a = one.access(i);
      if (a.mode == Mode::read || a.storage->elided) continue;
      if (a.apart) {  // it is there, but where a group has not been told
        if (a.storage->taken() && a.storage->unshared()) continue;
        return false;
      }
      if (!a.storage->taken() ? !a.storage->take() : !a.storage->protect(a.mode == Mode::update || grouped))
        return false;
    }
    return true;
  };
  auto have = [&] {
    return has(op) && std::all_of(op.members.begin(), op.members.end(), [&](Op* member) { return has(*member); });
  };
  bool got = have() || (trim && trim() > 0 && have());
  op.budget->reserved.fetch_sub(op.to_take, std::memory_order_relaxed);
  return got;
}

void Engine::fail(Op* op, FailurePtr failure) {
  op->failure = failure;
  ++failed_;
  if (unseen_.size() >= kMostUnseen) forget_seen();
  if (unseen_.size() < kMostUnseen)
    unseen_.push_back(std::move(failure));
  else
    unkept_->fetch_add(1), failure->unkept = unkept_;
}

FailurePtr Engine::memory_failure(const Op& op) const {
  return failure(ErrorKind::memory, op, [&] {
    size_t live = op.budget->live.load(), limit = op.budget->hard.load();
    if (op.to_take + op.budget->occupied() <= limit && occupied_by_all() > 0) {  // the devices together have too much
      live = 0, limit = shared_limits_.hard_of_all;
      for (Device* device : made_) live += device->budget->live.load();
    }
    return "memory: arrays must fit into the limit, asked for " + std::to_string(op.to_take) + " bytes with " +
           std::to_string(live) + " live and a limit of " + std::to_string(limit);
  });
}

// The times of a group are those of its first op.
void Engine::record(const Op& op, const Op* group) {
  OpRecord& record = *op.record;
  if (group && group != &op && group->record)
    record.started = group->record->started, record.live_started = group->record->live_started;
  if (group) record.group = static_cast<uint32_t>(op.seq - group->seq);
  record.flags = static_cast<uint8_t>(record.flags | (op.dropped ? OpRecord::dropped : 0) |
                                      (op.failure ? OpRecord::failed : 0) | (group ? OpRecord::grouped : 0));
  record.bytes = op.to_take, record.live_ended = op.budget->live_kib(), record.thread = Trace::thread_number();
  record.ended = Trace::now();
}

}  // namespace forerun
