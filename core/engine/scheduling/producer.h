// The activity of the program's own threads: whether they submit ops at this moment, or wait and work.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

#include "base/simd/cycles.h"
#include "engine/operations/submission.h"

namespace forerun {

// Costs of work, in ns: below kTinyCost, handing it to another thread takes longer than the work; from kWakeCost on, it
// is worth waking a thread; below kLittleCost, a waiting thread does it sooner than another thread could take it over,
// move its data between the caches of two cores, and report its end.
constexpr uint32_t kTinyCost = 400;
constexpr uint64_t kWakeCost = 20'000, kLittleCost = 100'000;
constexpr uint64_t kSmallOnAverage = 2500;  // ns: such ops run in the call, if their operands are computed

// The front end's threads share the cores with the workers. A worker asks it before it takes a core that the program
// needs, or small work that the program is about to do itself.
class Producer {
 public:
  explicit Producer(const SubmissionRing& ring) : ring_(ring) {}

  // --- Any thread ---
  // An op is submitted that costs `ns`, with that number. Concurrent calls may lose a little of the sum.
  void submits(uint64_t seq, uint32_t ns) {
    if (seq == burst_begins_.load(std::memory_order_relaxed)) begun_.store(cycles(), std::memory_order_relaxed);
    if (ns > kTinyCost) cost_.store(cost_.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
  }
  // The cost in ns, approximately, of ops submitted since the last plan, without tiny ones.
  uint64_t fresh_cost() const {
    return above(cost_.load(std::memory_order_relaxed), planned_cost_.load(std::memory_order_relaxed));
  }
  // Whether the last `n` ops, since the last call, were so small that they could have run in the call.
  bool submits_small(uint64_t n) {
    const uint64_t cost = cost_.load(std::memory_order_relaxed);
    return above(cost, std::exchange(looked_cost_, cost)) <= n * kSmallOnAverage;
  }
  // A waiting thread works in a worker's place between these two calls.
  void begins_to_help() { helping_.fetch_add(1); }
  void stops_helping() { helping_.fetch_sub(1); }
  bool helps() const { return helping_.load() > 0; }
  // Such a thread looks for any work but the longest, and uses a core meanwhile. stops_looking(): returns whether work
  // may have been left to it, for which a worker must be woken.
  void begins_to_look() { looking_.fetch_add(1); }
  bool stops_looking() {
    looking_.fetch_sub(1);
    return left_.load() && left_.exchange(false);
  }
  int looking() const { return looking_.load(); }
  // Leaves work to the threads that look; false: no thread does.
  bool leave_work() {
    left_.store(true);
    return looking() > 0;  // read after the store: a thread that has stopped before, or will see it
  }
  // A wait begins; resumes(): it has ended, and the program begins a new burst.
  void waits();
  void resumes();
  // The cost from which fresh work is worth waking a worker. A little work is not if the last burst was short: the
  // program will wait, and do it itself.
  uint64_t wake_cost() const { return waits_soon() ? kLittleCost : kWakeCost; }
  // Whether the program will probably wait before it submits much more, so that an op of some microseconds may as well
  // run in the call: it holds for some ops after a burst that was soon followed by a wait.
  bool will_wait() {
    const int left = will_wait_for_.load(std::memory_order_relaxed);
    if (left > 0) will_wait_for_.store(left - 1, std::memory_order_relaxed);
    return left > 0;
  }
  // Whether there are fresh ops that no waiting thread will take.
  bool unattended() const { return ring_.has_fresh() && !helps(); }
  // The ops that the program submits between two waits.
  struct Burst {
    uint32_t site = 0;  // the line of its first op
    uint64_t ops = 0, cost = 0;
  };
  // Lets the program submit the rest of a burst, or some more ops, before a worker plans the fresh ones.
  void let_submit(const Burst& expected) const;

  // --- With the engine's lock ---
  // If the fresh ops are the beginning of a known burst: its length the last time. Otherwise an empty one.
  Burst expected();
  // Whether the program submits ops, or has just seen a wait end: it needs a core. (A thread that waits does not: it
  // works in a worker's place.)
  bool active();
  // Whether fresh work is all tiny, and more of it keeps coming: the thread that submits it runs it at its next wait,
  // sooner than it could be handed over to another core. Not for longer than some milliseconds.
  bool keeps_fresh();
  // All fresh ops have been planned.
  void planned();
  // In the child of a fork.
  void forget() { helping_.store(0), looking_.store(0); }

 private:
  // The difference of sums, of which the larger one may have lost a little since the other was taken from it.
  bool waits_soon() const { return waits_soon_.load(std::memory_order_relaxed); }
  static uint64_t above(uint64_t sum, uint64_t before) { return sum > before ? sum - before : 0; }

  const SubmissionRing& ring_;
  std::atomic<uint64_t> cost_{0}, planned_cost_{0};  // ns, of all ops submitted, and of those that have been planned
  std::atomic<uint64_t> resumed_{0};                 // when a wait ended last (cycles)
  std::atomic<uint64_t> begun_{0};                   // when the first op of the burst was submitted (cycles),
  std::atomic<bool> waits_soon_{false};              // whether the previous burst was soon followed by a wait,
  std::atomic<int> will_wait_for_{0};                // and for how many more ops will_wait() is true
  // The current burst, and the length of the previous one: concurrent threads may mix them up.
  std::atomic<uint64_t> burst_begins_{0}, burst_begins_cost_{0}, burst_ops_{0}, burst_cost_{0};
  uint64_t looked_cost_ = 0;  // cost_ at the last call of submits_small(); with the front end's lock
  static constexpr size_t kBursts = 64;
  Burst bursts_[kBursts];                     // bursts that have been seen, by their sites
  uint64_t watched_ = 0;                      // number of the first op of a burst that is being measured,
  uint32_t watched_site_ = 0;                 // and its line
  std::atomic<int> helping_{0};               // waiting threads that are awake,
  std::atomic<int> looking_{0};               // those of them that look for more than small work,
  std::atomic<bool> left_{false};             // and whether work has been left to these
  uint64_t active_next_ = 0, active_at_ = 0;  // active(): the last number it saw, and when that was new (cycles)
  uint64_t kept_next_ = 0, kept_since_ = 0;   // keeps_fresh(): the last number, and since when it is true (cycles)
};

}  // namespace forerun
