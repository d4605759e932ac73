#include "engine/execution/waiter.h"

#include <algorithm>

#include "base/simd/cycles.h"

namespace forerun {

namespace {

// How often a waiting thread looks for work before it sleeps, and the pauses between: some 100 us in total. Being woken
// may cost as much.
constexpr int kLooks = 150, kPauses = 16;
// A submitting thread that catches up: how many times it looks in vain before it stops, the pause between (cycles):
// some 50 us in total;
constexpr int kLooksInVain = 64;
constexpr uint64_t kLookPause = 1000;
constexpr uint64_t kCatchUp = 12'000'000;  // how long it may take (cycles): some 5 ms, as Python lets a thread run
constexpr uint64_t kTriesAgain = 1024;     // and after how many further ops it tries again
constexpr std::chrono::milliseconds kReliefLooks{10};  // how often an idle relief worker looks for work

// While this lasts, the thread's host task occupies no worker.
class TaskBlocked {
 public:
  explicit TaskBlocked(WorkerPool& pool)
      : pool_(pool), queue_(Executor::task() ? Executor::task()->op->queue : nullptr) {
    if (queue_) pool_.worker_blocked(*queue_);
  }
  TaskBlocked(const TaskBlocked&) = delete;
  ~TaskBlocked() {
    if (queue_) pool_.worker_unblocked(*queue_);
  }

 private:
  WorkerPool& pool_;
  Queue* const queue_;
};

}  // namespace

// With DependencyGraph::end_one() modelled in verification/models/completion.py.
template <class Done, class Arm>
bool Waiter::wait_until(Done done, Arm arm, std::chrono::microseconds limit, uint32_t most, const Storage* wanted) {
  if (done()) return true;
  waits_.fetch_add(1, std::memory_order_relaxed);
  producer_.waits();
  TaskBlocked blocked(pool_);
  Deadline deadline(limit);
  bool over = false, late = false, rest = false;
  const bool looks = most > kCatchUpCost;
  while (!over && !late) {
    const uint64_t notifications = notifier_.notifications();
    producer_.begins_to_help();
    if (looks) producer_.begins_to_look();
    for (int idle = 0; idle < kLooks && !over; ++idle) {
      if (dispatcher_.help(most, rest, wanted)) idle = -1;
      if (dispatcher_.attend()) idle = -1;
      for (int i = 0; i < kPauses && !(over = done()); ++i) pause();
      if (!over && idle < 0 && deadline.passed()) break;
    }
    if (looks && producer_.stops_looking()) pool_.wake_for_leftovers();
    producer_.stops_helping();
    if (over) break;
    const Notifier::Woken woken = notifier_.sleep(notifications, done, arm, deadline);
    over = woken == Notifier::Woken::done, late = woken == Notifier::Woken::late;
  }
  producer_.resumes();
  if (rest) pool_.wake_for_leftovers();
  return over;
}

bool Waiter::wait(Storage& storage, std::chrono::microseconds limit) {
  uint32_t target = storage.issued.load();
  return wait_until([&] { return storage.has_ended(target); }, [&] { storage.watched.store(true); }, limit, kHelpCost,
                    &storage);
}

bool Waiter::wait_mark(uint64_t mark, std::chrono::microseconds limit, uint32_t most) {
  return wait_until([&] { return ring_.has_ended(mark); }, [&] { notifier_.arm(mark); }, limit, most);
}

// Waits for more than one free slot, so that the front end does not wait for every op.
bool Waiter::make_room(std::chrono::microseconds limit) {
  uint64_t next = ring_.next(), keep = ring_.ops_ahead() - std::max<uint64_t>(1, ring_.ops_ahead() / 8);
  return next <= keep || wait_mark(next - keep, limit);
}

bool Waiter::settle_small(Storage& storage, Dispatcher::Then then) {
  return dispatcher_.run_small(kSmallCost, [&] { return storage.settled(); }, then);
}

bool Waiter::settle_small(uint64_t mark, Dispatcher::Then then) {
  return dispatcher_.run_small(kSmallCost, [&] { return ring_.has_ended(mark); }, then);
}

void Waiter::keep_up() {
  const bool small = producer_.submits_small(kKeepUp);
  if (scheduler_.gate_closed(std::memory_order_relaxed)) return;
  if (producer_.fresh_cost() > 0) {
    if (small) catch_up();
    return;
  }
  if (ring_.fresh() < kKeepUp / 2) return;  // another thread is planning
  dispatcher_.run_small(kTinyCost, [] { return false; }, Dispatcher::Then::go_on);
}

// Ends early if nothing makes progress: then an op takes long, and the program goes on submitting.
void Waiter::catch_up() {
  const uint64_t mark = ring_.next(), began = cycles();
  if (mark < catches_up_from_) return;
  uint64_t front = ring_.front();
  const auto over = [&] { return ring_.has_ended(mark); };
  producer_.begins_to_help();
  for (int quiet = 0; quiet < kLooksInVain && cycles() - began < kCatchUp; ++quiet) {
    dispatcher_.run_small(kCatchUpCost, over, Dispatcher::Then::go_on);
    if (over()) break;
    if (const uint64_t seen = ring_.front(); seen != front) front = seen, quiet = 0;
    pass(kLookPause);
  }
  producer_.stops_helping();
  if (!over()) catches_up_from_ = mark + kTriesAgain;
}

void Waiter::serve_relief() {
  auto over = [&] { return pool_.stopping() || !relief_.needed(); };
  while (!pool_.stopping())
    if (wait_until(over, [] {}, kReliefLooks, kAnyCost - 1)) relief_.sleep();
  pool_.thread_ends(nullptr);
}

}  // namespace forerun
