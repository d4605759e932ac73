#include "engine/scheduling/producer.h"

#include <algorithm>
#include <utility>

#include "base/cycles.h"
#include "engine/passes/fusion.h"

namespace forerun {

namespace {

// In cycles: some 5 ms, and some 100 us.
constexpr uint64_t kKeepsFor = 12'000'000, kActiveFor = 250'000;
// The time that the program may take from one op to the next, in let_submit(); and how often a worker looks meanwhile.
constexpr uint64_t kLeastQuiet = 6000, kMostQuiet = 150'000, kLook = 1000;

}  // namespace

void Producer::resumes() { resumed_.store(cycles(), std::memory_order_relaxed); }

// Then the same program is mostly grouped in the same way. It lasts until nothing has come for some microseconds, or a
// thirty-second of the cost of the work, or an eighth of that has passed, or there is enough for a group. Work that
// is not worth a wake-up is mostly waited for at once, and then done sooner by the waiting thread.
void Producer::let_submit() const {
  uint64_t next = ring_.next();
  for (uint64_t spent = 0;;) {
    const uint64_t cost = fresh_cost(), quiet = std::clamp(cost / 32, kLeastQuiet, kMostQuiet);
    for (uint64_t left = quiet; left > 0 && unattended(); left -= std::min(left, kLook)) pass(std::min(left, kLook));
    spent += quiet;
    const uint64_t seen = std::exchange(next, ring_.next());
    if (!unattended() || next == seen || spent > 4 * kLeastQuiet + cost / 8 || next - ring_.planned() >= Fusion::kReach)
      return;
  }
}

bool Producer::active() {
  uint64_t next = ring_.next(), now = cycles();
  if (next != std::exchange(active_next_, next)) active_at_ = now;
  uint64_t seen = std::max(active_at_, resumed_.load(std::memory_order_relaxed));
  return !helps() && (now < seen || now - seen < kActiveFor);
}

bool Producer::keeps_fresh() {
  uint64_t next = ring_.next(), now = cycles();
  bool comes = next != std::exchange(kept_next_, next);
  if (kept_since_ == 0) kept_since_ = now;
  return comes && fresh_cost() == 0 && now - kept_since_ < kKeepsFor;
}

void Producer::planned() {
  fresh_cost_.store(0, std::memory_order_relaxed);
  kept_since_ = 0;
}

}  // namespace forerun
