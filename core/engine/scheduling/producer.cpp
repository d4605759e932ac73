#include "engine/scheduling/producer.h"

#include <algorithm>
#include <utility>

#include "base/simd/cycles.h"
#include "engine/operations/op.h"
#include "engine/passes/group_search.h"

namespace forerun {

namespace {

// In cycles: some 5 ms, and some 100 us.
constexpr uint64_t kKeepsFor = 12'000'000, kActiveFor = 250'000;
// In cycles, some 25 us: a program that mostly waits does so this soon after the first op of a burst.
constexpr uint64_t kSoon = 60'000;
constexpr int kWillWaitFor = 32;  // ops
// The time that the program may take from one op to the next, in let_submit(); and the interval of the worker's reads.
constexpr uint64_t kLeastQuiet = 6000, kMostQuiet = 150'000, kLook = 1000;

}  // namespace

void Producer::waits() {
  const bool soon = cycles() - begun_.load(std::memory_order_relaxed) < kSoon;
  waits_soon_.store(soon, std::memory_order_relaxed);
  will_wait_for_.store(soon ? kWillWaitFor : 0, std::memory_order_relaxed);
}

void Producer::resumes() {
  resumed_.store(cycles(), std::memory_order_relaxed);
  constexpr auto relaxed = std::memory_order_relaxed;
  const uint64_t next = ring_.next(relaxed), begun = burst_begins_.load(relaxed), cost = cost_.load(relaxed);
  if (next == begun) return;
  burst_ops_.store(next - begun, relaxed), burst_cost_.store(above(cost, burst_begins_cost_.load(relaxed)), relaxed);
  burst_begins_.store(next, relaxed), burst_begins_cost_.store(cost, relaxed);
}

Producer::Burst Producer::expected() {
  const uint64_t begins = burst_begins_.load(std::memory_order_relaxed);
  const Op* first = ring_.planned() == begins ? ring_.peek(begins) : nullptr;
  if (!first || first == SubmissionRing::ended_already()) return {};
  const uint64_t ops = burst_ops_.load(std::memory_order_relaxed);
  if (watched_ + ops == begins)
    bursts_[watched_site_ % kBursts] = {watched_site_, ops, burst_cost_.load(std::memory_order_relaxed)};
  watched_ = begins, watched_site_ = first->site;
  const Burst& known = bursts_[first->site % kBursts];
  return known.site == first->site ? known : Burst{};
}

// With the rest of the burst, the same program is mostly grouped in the same way. The pause ends when all of the
// expected burst has come, when nothing has come for some microseconds or a thirty-second of the cost of the work, when
// an eighth of that cost has passed, or when there is enough for a group. Work that is not worth a wake-up is mostly
// waited for at once, and then done sooner by the waiting thread; a little work of a program that waits soon is left to
// it for longer.
void Producer::let_submit(const Burst& expected) const {
  auto little = [&] { return std::max(fresh_cost(), expected.cost) < kLittleCost; };
  for (uint64_t left = waits_soon() ? kSoon : 0; left > 0 && unattended() && little(); left -= kLook) pass(kLook);
  const uint64_t enough = expected.ops > 0 ? std::min(expected.ops, GroupSearch::kReach) : GroupSearch::kReach;
  uint64_t next = ring_.next();
  for (uint64_t spent = 0; unattended() && next - ring_.planned() < enough;) {
    const uint64_t cost = std::max(fresh_cost(), expected.cost), quiet = std::clamp(cost / 32, kLeastQuiet, kMostQuiet);
    uint64_t left = quiet;
    for (; left > 0 && unattended() && ring_.next() - ring_.planned() < enough; left -= std::min(left, kLook))
      pass(std::min(left, kLook));
    spent += quiet - left;
    const uint64_t seen = std::exchange(next, ring_.next());
    if (next == seen || spent > 4 * kLeastQuiet + cost / 8) return;
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
  planned_cost_.store(cost_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  kept_since_ = 0;
}

}  // namespace forerun
