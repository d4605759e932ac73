#include "capture/fused_steps.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <queue>
#include <utility>

#include "capture/step_group.h"
#include "engine/devices/queue.h"

namespace forerun {

namespace {

using Step = Program::Step;
using Slots = std::vector<Program::Slot>;

constexpr size_t kMostTried = 8;            // units that are tried for a step, besides its dependencies
constexpr size_t kMostVisited = 4096;       // units that are visited for a step
constexpr uint32_t kSlowCost = 100'000;     // ns
constexpr size_t kMostTaken = 64ULL << 20;  // bytes of results: for more, the engine finds groups that memory allows

// Whether the op only computes, on the CPU. Other ops keep their order: their effects are visible outside.
bool plain(const Step& step) {
  const Op& op = step.op;
  return op.queue->kind == Queue::Kind::compute && !op.queue->lane && !op.may_wait();
}

bool may_fuse(const Step& step) { return plain(step) && step.op.kernel()->fusible(); }

// Steps that run at one position of a program, one after the other: those of a group, or a single step.
struct Unit {
  std::unique_ptr<Step> alone;
  std::shared_ptr<StepGroup> group;
  const Queue* queue;
  const MemoryBudget* budget;
  bool slow;                       // one thread works on it for long, or it may wait for other threads
  size_t slow_before;              // 1 + the last slow unit that it depends on; 0: none
  std::vector<size_t> after = {};  // units that it depends on
  size_t seen = 0;                 // the step for which it has been visited
};

// The graph of units, which has no circles.
class UnitGraph {
 public:
  UnitGraph(const Slots& slots, const FuseSettings& settings)
      : slots_(slots), settings_(settings), uses_(slots.size()) {}
  void add(std::unique_ptr<Step> step);
  // All steps, in an order that respects their dependencies.
  std::vector<std::unique_ptr<Step>> steps();

 private:
  struct SlotUse {
    std::vector<size_t> readers;  // units that have read the value since the last write
    std::optional<size_t> writer;
    bool shared = false;  // several units use it
  };
  std::vector<size_t> dependencies(const Step& step) const;
  bool reach_back(const std::vector<size_t>& units);
  size_t place(std::unique_ptr<Step>& step, const std::vector<size_t>& after, size_t slow_before);
  void use(const Program::Use& use, size_t unit);
  std::vector<size_t> order() const;

  const Slots& slots_;
  const FuseSettings& settings_;
  std::vector<SlotUse> uses_;  // of each slot
  std::vector<Unit> units_;
  std::optional<size_t> ordered_;  // the last unit of those that keep their order
  size_t number_ = 0;              // of the step that is added, from 1 on
};

std::vector<size_t> UnitGraph::dependencies(const Step& step) const {
  std::vector<size_t> found;
  for (const Program::Use& use : step.uses) {
    const SlotUse& before = uses_[use.slot];
    if (before.writer) found.push_back(*before.writer);
    if (use.mode != Mode::read) found.insert(found.end(), before.readers.begin(), before.readers.end());
  }
  if (ordered_ && !plain(step)) found.push_back(*ordered_);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Marks the units on which these depend. False: there are too many.
bool UnitGraph::reach_back(const std::vector<size_t>& units) {
  std::vector<size_t> next = units;
  for (size_t visited = 0; !next.empty(); ++visited) {
    if (visited == kMostVisited) return false;
    const size_t unit = next.back();
    next.pop_back();
    for (size_t before : units_[unit].after)
      if (std::exchange(units_[before].seen, number_) != number_) next.push_back(before);
  }
  return true;
}

// Adds the step to a group on which none of its dependencies depends, or creates a unit. Returns the unit.
size_t UnitGraph::place(std::unique_ptr<Step>& step, const std::vector<size_t>& after, size_t slow_before) {
  const bool fusible = may_fuse(*step);
  auto may_join = [&](const Unit& unit) {
    return unit.group && unit.queue == step->op.queue && unit.budget == step->op.budget && unit.seen != number_ &&
           unit.slow_before == slow_before;  // else one of the two would wait for a slow unit that only the other needs
  };
  if (fusible && reach_back(after)) {
    for (size_t k : after)
      if (may_join(units_[k]) && units_[k].group->add(step, slots_)) return k;
    const size_t first = units_.size() > kMostTried ? units_.size() - kMostTried : 0;
    for (size_t k = first; k < units_.size() && !settings_.apart; ++k)
      if (may_join(units_[k]) && units_[k].group->add(step, slots_)) return k;
  }
  const Op& op = step->op;
  Unit& fresh = units_.emplace_back(Unit{nullptr, nullptr, op.queue, op.budget, false, slow_before});
  fresh.slow = !plain(*step) || (!fusible && op.cost > kSlowCost);
  auto group = fusible ? std::make_shared<StepGroup>() : nullptr;
  if (group && group->add(step, slots_))
    fresh.group = std::move(group);
  else
    fresh.alone = std::move(step);
  return units_.size() - 1;
}

void UnitGraph::add(std::unique_ptr<Step> step) {
  ++number_;
  const std::vector<Program::Use> uses = step->uses;
  const bool is_ordered = !plain(*step);
  const std::vector<size_t> after = dependencies(*step);
  size_t slow_before = 0;
  for (size_t k : after) slow_before = std::max(slow_before, units_[k].slow ? k + 1 : units_[k].slow_before);
  const size_t unit = place(step, after, slow_before);
  for (size_t k : after)
    if (auto& all = units_[unit].after; k != unit && std::find(all.begin(), all.end(), k) == all.end())
      all.push_back(k);
  for (const Program::Use& one : uses) use(one, unit);
  if (is_ordered) ordered_ = unit;
}

void UnitGraph::use(const Program::Use& use, size_t unit) {
  SlotUse& known = uses_[use.slot];
  auto other = [&](size_t k) { return k != unit; };
  known.shared = known.shared || (known.writer && other(*known.writer)) ||
                 std::any_of(known.readers.begin(), known.readers.end(), other);
  if (use.mode != Mode::read)
    known.writer = unit, known.readers.clear();
  else if (std::find(known.readers.begin(), known.readers.end(), unit) == known.readers.end())
    known.readers.push_back(unit);
}

// Units without dependencies come in the order of their first steps.
std::vector<size_t> UnitGraph::order() const {
  std::vector<std::vector<size_t>> before(units_.size());
  std::vector<size_t> waits(units_.size()), all;
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t k = 0; k < units_.size(); ++k) {
    for (size_t earlier : units_[k].after) before[earlier].push_back(k);
    if ((waits[k] = units_[k].after.size()) == 0) ready.push(k);
  }
  while (!ready.empty()) {
    all.push_back(ready.top());
    ready.pop();
    for (size_t k : before[all.back()])
      if (--waits[k] == 0) ready.push(k);
  }
  return all;
}

std::vector<std::unique_ptr<Step>> UnitGraph::steps() {
  std::vector<bool> inner(slots_.size());
  for (size_t s = 0; s < slots_.size(); ++s)
    inner[s] = slots_[s].kind == Program::SlotKind::temporary && !uses_[s].shared;
  std::vector<std::unique_ptr<Step>> all;
  for (size_t k : order()) {
    Unit& unit = units_[k];
    if (unit.alone) {
      all.push_back(std::move(unit.alone));
      continue;
    }
    if (unit.group->steps().size() > 1) {
      unit.group->complete(inner);
      if (unit.group->taken(slots_) <= kMostTaken) {
        if (settings_.intern) unit.group->set_name(settings_.intern);
        all.push_back(StepGroup::step_of(std::move(unit.group)));
        continue;
      }
    }
    std::move(unit.group->steps().begin(), unit.group->steps().end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::vector<std::unique_ptr<Step>> fuse_steps(std::vector<std::unique_ptr<Step>> steps, const Slots& slots,
                                              const FuseSettings& settings) {
  UnitGraph graph(slots, settings);
  for (auto& step : steps) graph.add(std::move(step));
  return graph.steps();
}

}  // namespace forerun
