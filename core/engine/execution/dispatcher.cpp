#include "engine/execution/dispatcher.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/containers/free_list.h"
#include "base/simd/cycles.h"

namespace forerun {

namespace {

constexpr int kLooks = 30;  // reads of the ring before a worker sleeps
// Cycles between two reads, some microseconds: a worker that reads the ring after every op steals the submitting
// thread's cache lines, and one that finds several ops at once plans them at once. A thread that waits for a result is
// not delayed by this: it runs the ops itself.
constexpr uint64_t kLookCycles = 8000;
constexpr std::chrono::microseconds kTimeout{200}, kShortTimeout{30}, kLongTimeout{1600};
constexpr int kTimeouts = 50;

// Whether a waiting thread can take the next work of a queue, if there is any.
bool may_be_taken(const Queue& queue) {
  const Op* top = queue.top();
  return top == queue.top(Queue::Tasks::brief) && (!top || tile_cost(*top) <= kHelpCost) &&
         (queue.sharing.empty() || tile_cost(*queue.sharing.front()) <= kHelpCost);
}

}  // namespace

void Dispatcher::recycle(Op* op) {
  op->drop_kernel();  // of an op that was dropped
  op->reset();
  FreeList<Op>::give(op);
}

void Dispatcher::serve(Queue& queue) {
  Batch batch;
  int looks = 0;  // before it sleeps
  queue.searching.fetch_add(1);
  for (;;) {
    const bool left = finish_and_fetch(batch, &queue, kAnyCost, Idle::leave);
    if (!batch.n && (left || looks == 0 || !spin(queue, looks))) finish_and_fetch(batch, &queue, kAnyCost, Idle::sleep);
    if (!batch.n && pool_.stopping()) break;
    looks = batch.n > 0 ? kLooks : looks;
    bool away = batch.cost() > kWakeCost;
    if (away) {
      queue.searching.fetch_sub(1);
      if (ring_.has_fresh() && queue.sleeping.load() > 0)
        pool_.wake(queue);  // submitted just now: no other worker was woken for it
    }
    bool task = batch.is_task();
    if (task) relief_.enter_task(queue);
    executor_.run(batch);
    if (task) relief_.leave_task(queue);
    if (away) queue.searching.fetch_add(1);
  }
  queue.searching.fetch_sub(1);
  pool_.thread_ends(&queue);
}

// One thread per queue looks for work for a while before it sleeps, so that short pauses cost no system call.
bool Dispatcher::spin(Queue& queue, int& looks) {
  if (queue.spinning.exchange(1)) return false;
  bool found = false;
  for (; looks > 0 && !found; --looks) {
    pass(kLookCycles);
    if (scheduler_.gate_closed(std::memory_order_relaxed)) continue;
    // Fresh and tiny work is left to a waiting thread, which is about to take it.
    const bool ready = producer_.helps() ? queue.seems_costly() : queue.seems_busy();
    found = (ready && !queue.refused.load(std::memory_order_relaxed)) || queue.seems_to_share() ||
            (producer_.unattended() && producer_.fresh_cost() > 0);
  }
  queue.spinning.store(0);
  return found;
}

bool Dispatcher::help(uint32_t most, bool& rest, const Storage* wanted) {
  Batch batch;
  finish_and_fetch(batch, nullptr, most, Idle::leave, Then::go_on, wanted);
  if (!batch.n) return false;
  helped_.fetch_add(batch.n, std::memory_order_relaxed);
  executor_.run(batch);
  finish_and_fetch(batch, nullptr, 0, Idle::leave, Then::help);
  rest = batch.rest;
  return true;
}

// Tiny ops are left to the waiting thread that runs them; a little work to a waiting thread without other work, unless
// this worker has just run ops, whose results are in its cache; and any work if threads are awake on all other cores.
bool Dispatcher::left_to_helper(const Queue& queue, bool worked) const {
  if (!producer_.helps()) return false;
  if (queue.only_tiny()) return true;
  if (producer_.looking() == 0 || !queue.computes() || !may_be_taken(queue)) return false;
  return pool_.crowded() ||
         (!worked && !scheduler_.anything_runs() && queue.ready_cost < kLittleCost && queue.sharing.empty());
}

bool Dispatcher::finish_and_fetch(Batch& batch, Queue* queue, uint32_t most, Idle idle, Then then,
                                  const Storage* wanted) {
  DependencyGraph::Released released;
  bool notify, left = false;
  int timeouts = 0;
  auto timeout = kTimeout;
  bool patient = queue != nullptr, overslept = false;
  {
    Lock held = mutex_.lock();
    bool worked = scheduler_.finish(batch, held);
    bool changed = worked;
    auto find = [&] { return queue ? scheduler_.pick(*queue, most, batch) : scheduler_.pick_any(batch, most, wanted); };
    while (most > 0 && !pool_.stopping()) {
      const bool crowded = overslept && queue->computes() && crowded_by_program();
      left = queue && (crowded || left_to_helper(*queue, worked));
      if (!left && find()) break;
      left = left || (queue && ring_.has_fresh() && producer_.keeps_fresh());
      if (patient && !left && producer_.unattended() && producer_.fresh_cost() > 0) {
        left = queue->spinning.exchange(1);  // to the worker that already lets the program submit
        if (!left) {
          patient = false;
          const Producer::Burst expected = producer_.expected();
          held.unlock();
          producer_.let_submit(expected);
          queue->spinning.store(0);
          held.lock();
          continue;
        }
      }
      if (!scheduler_.gate_closed() && ring_.has_fresh() && !left) {
        const uint64_t planned = ring_.planned();
        scheduler_.plan();
        changed = true;
        if (find()) break;
        if (ring_.has_fresh() && ring_.planned() == planned) {
          // The submitting thread was stopped between two steps, perhaps on this CPU.
          held.unlock();
          std::this_thread::yield();
          held.lock();
          if (!queue) break;
          continue;
        }
        if (!queue || (ring_.has_fresh() && !producer_.keeps_fresh())) continue;
      }
      left = left || (queue && scheduler_.gave_way());
      changed = changed || graph_.take_changed();
      if (idle == Idle::leave || notifier_.due() || graph_.has_released()) break;  // these must be done first
      if (changed) pool_.wake_others(queue, true), changed = false;
      // One worker looks again soon for work that the program submits without waking any. Each look takes some 20 us
      // of a core, on which a waiting thread or another worker may compute.
      const bool another_looks = queue->kind != Queue::Kind::compute || queue->timed_waits.load() > 0;
      const auto soon = left && producer_.helps() ? std::min(4 * timeout, kLongTimeout) : timeout;
      const auto limit = another_looks ? kLongTimeout : soon;
      // Threads of files and copies sleep until they are woken, unless their queue has work, or there are fresh ops:
      // then sleep() without a limit returns at once, and this loop would not release the lock.
      const bool looks_on = left && (queue->kind == Queue::Kind::compute || queue->has_work() || ring_.has_fresh());
      overslept = !pool_.sleep(*queue, held, looks_on || timeouts++ < kTimeouts ? limit : ParkingLot::kForever);
      timeout = crowded ? std::min(2 * timeout, kLongTimeout) : kTimeout, worked = false;
      if (queue->called.exchange(false))
        timeouts = 0, timeout = kShortTimeout;  // after a wake-up it looks twice, soon, for the op
    }
    const bool leaves = !queue && batch.n == 0 && (then == Then::help || (most == 0 && scheduler_.anything_runs()));
    batch.rest = pool_.wake_others(queue, graph_.take_changed() || changed, batch.cost(), leaves);
    notify = notifier_.take_due();
    released = graph_.take_released();
    // Beside a waiting thread, a worker that has just worked may look for more as long as there are cores for both.
    if (left && producer_.helps()) left = pool_.crowded();
  }
  after_lock(released, notify);
  return left;
}

void Dispatcher::after_lock(DependencyGraph::Released released, bool notify) {
  while (!released.storages.empty()) released.storages.pop_front()->release();
  while (!released.ops.empty()) recycle(released.ops.pop_front());
  if (notify) notifier_.notify();
}

void Dispatcher::complete(Op& op, FailurePtr failure, bool hands_over) {
  Queue* const mine = hands_over ? op.queue : nullptr;
  DependencyGraph::Released released;
  bool notify;
  {
    Lock held = mutex_.lock();
    graph_.completed(&op, std::move(failure));
    scheduler_.notify_if_no_workers();
    pool_.wake_others(mine, true);
    notify = notifier_.take_due();
    released = graph_.take_released();
  }
  after_lock(released, notify);
  if (mine && mine->seems_busy()) hand_over(*mine);
}

void Dispatcher::hand_over(Queue& queue) {
  Batch batch;
  do {
    DependencyGraph::Released released;
    bool notify;
    {
      Lock held = mutex_.lock();
      scheduler_.finish(batch, held);
      if (pool_.stopping() || !scheduler_.pick(queue, kSmallCost, batch))
        graph_.take_changed(), pool_.wake_others(nullptr, true);
      notify = notifier_.take_due();
      released = graph_.take_released();
    }
    after_lock(released, notify);
    executor_.run(batch);
  } while (batch.n);
}

bool Dispatcher::hand_over_fresh(Queue& queue, uint64_t seq) {
  if (ring_.planned() != seq) return false;
  {
    Lock held = mutex_.lock();
    if (!pool_.started() || pool_.stopping() || scheduler_.gate_closed() || ring_.planned() != seq) return false;
    scheduler_.plan();
  }
  hand_over(queue);
  return true;
}

void Dispatcher::add_attended(Lane& lane) {
  for (std::atomic<Lane*>& place : attended_)
    if (Lane* none = nullptr; place.compare_exchange_strong(none, &lane)) return;
}

void Dispatcher::remove_attended(const Lane& lane) {
  for (std::atomic<Lane*>& place : attended_)
    if (place.load() == &lane) place.store(nullptr);
}

void Dispatcher::remove_all_attended() {
  for (std::atomic<Lane*>& place : attended_) place.store(nullptr);
}

}  // namespace forerun
