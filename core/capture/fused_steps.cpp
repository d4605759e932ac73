#include "capture/fused_steps.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/devices/queue.h"

namespace forerun {

namespace {

using Step = Program::Step;
using Slots = std::vector<Program::Slot>;

constexpr size_t kMostTried = 8;            // units that are tried for a step beside those that it waits for
constexpr size_t kMostVisited = 4096;       // units that are looked at for a step
constexpr size_t kMostNamed = 3;            // operations in the name of fused steps
constexpr uint32_t kSlowCost = 100'000;     // ns
constexpr uint64_t kPartCost = 25'000;      // ns: less is not worth another thread
constexpr size_t kMostTaken = 64ULL << 20;  // bytes of results: for more, the engine finds groups that memory allows

// Fused steps. Put together by one thread, then constant.
class StepGroup {
 public:
  // The part that a run changes. Concurrent runs have instances of their own.
  struct Instance {
    std::vector<std::unique_ptr<Op>> ops;  // of the steps, in order; their accesses hold no references
    std::unique_ptr<FusedGroup> group;     // of these ops
    struct Patch {
      Access* access;
      int outer;  // access of the op that runs the group
    };
    std::vector<Patch> patches;
  };

  // Whether the step may run as part of the group, behind those that are in it; if so it is in it now.
  bool add(std::unique_ptr<Step>& step, const Slots& slots);
  // After the last add(). inner: of each slot, whether it is a temporary that no other step uses.
  void complete(const std::vector<bool>& inner);
  // The step that does the work of all of them.
  static std::unique_ptr<Step> step_of(std::shared_ptr<const StepGroup> group);
  void set_name(Intern intern) { name_ = intern(name_of_ops().c_str()); }
  const char* name() const { return name_; }
  size_t taken(const Slots& slots) const;  // bytes of the results

  std::unique_ptr<Instance> take() const;
  void give_back(std::unique_ptr<Instance> instance) const {
    std::lock_guard held(mutex_);
    if_memory_allows([&] { free_.push_back(std::move(instance)); });  // else it is made anew
  }
  int64_t parts() const { return parts_; }
  std::vector<std::unique_ptr<Step>>& steps() { return steps_; }

 private:
  std::unique_ptr<Op> op_of(const Step& step) const;
  static bool join(Instance& instance, std::unique_ptr<Op> op);
  void finish(Instance& instance) const;
  void merge(const Program::Use& use);
  std::string name_of_ops() const;

  const char* name_ = "fused";
  std::vector<std::unique_ptr<Step>> steps_;
  // By slot, the storages that ops are put together with. They never have memory: those of a run take their places, and
  // values that stay in tiles need none.
  std::unordered_map<int, Array> storages_;
  std::vector<int> elided_;                              // slots of these values
  std::vector<Program::Use> uses_;                       // of the other slots, by all steps
  uint64_t cost_ = 0;                                    // ns
  int64_t parts_ = 1;                                    // that threads may share
  mutable std::mutex mutex_;                             // held while an instance is put together with storages_, too
  mutable std::vector<std::unique_ptr<Instance>> free_;  // guarded by mutex_
};

// Runs the steps of a group tile by tile.
class FusedSteps final : public Kernel {
 public:
  explicit FusedSteps(std::shared_ptr<const StepGroup> group) : group_(std::move(group)) {}
  ~FusedSteps() override {
    if (instance_) group_->give_back(std::move(instance_));
  }
  const char* name() const override { return group_->name(); }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override {
    op.emplace<FusedSteps>(group_);
    return true;
  }
  int64_t tiles() const override { return group_->parts(); }

  void prepare(Op& op) override {
    if (!instance_) instance_ = group_->take();
    for (auto [access, outer] : instance_->patches) access->storage = op.access(outer).storage;
    instance_->group->prepare(op);
  }

  // The tiles of the group may become others when its plan is made anew; parts of it do not.
  void run(Op& op, int64_t part) override {
    FusedGroup& group = *instance_->group;
    const int64_t tiles = group.tiles(), parts = group_->parts();
    for (int64_t tile = part * tiles / parts; tile < (part + 1) * tiles / parts; ++tile) group.run(op, tile);
  }

 private:
  std::shared_ptr<const StepGroup> group_;
  std::unique_ptr<StepGroup::Instance> instance_;  // from prepare() on
};

bool StepGroup::add(std::unique_ptr<Step>& step, const Slots& slots) {
  std::vector<int> fresh;
  for (const Program::Use& use : step->uses) {
    auto [at, is_new] = storages_.try_emplace(use.slot);
    if (!is_new) continue;
    at->second = Array(Buffer::make(slots[use.slot].bytes, slots[use.slot].budget), Layout{});
    fresh.push_back(use.slot);
  }
  if (free_.empty()) free_.push_back(std::make_unique<Instance>());
  if (!join(*free_.front(), op_of(*step))) {
    for (int slot : fresh) storages_.erase(slot);
    return false;
  }
  cost_ += step->op.cost;
  steps_.push_back(std::move(step));
  return true;
}

// An op that runs a copy of the step's kernel.
std::unique_ptr<Op> StepGroup::op_of(const Step& step) const {
  auto op = std::make_unique<Op>();
  step.op.kernel()->copy_to(*op);
  for (const Program::Use& use : step.uses) {
    Storage* storage = storages_.at(use.slot).storage();
    use.region ? op->put(storage, use.mode, *use.region) : op->put(storage, use.mode);
    op->access(op->n_access - 1).loose = use.loose;
  }
  return op;
}

bool StepGroup::join(Instance& instance, std::unique_ptr<Op> op) {
  if (instance.group ? !instance.group->add(*op)
                     : !(instance.group.reset(op->kernel()->new_group(*op)), instance.group))
    return false;
  instance.ops.push_back(std::move(op));
  return true;
}

void StepGroup::complete(const std::vector<bool>& inner) {
  Instance& first = *free_.front();
  for (auto& [slot, stand_in] : storages_)
    if (inner[slot] && first.group->elide(stand_in.storage())) elided_.push_back(slot);
  for (auto& step : steps_)
    for (const Program::Use& use : step->uses) merge(use);
  finish(first);
  const auto most = static_cast<int64_t>(cost_ / kPartCost);
  parts_ = std::clamp<int64_t>(most, 1, std::max<int64_t>(1, first.group->tiles()));
}

void StepGroup::merge(const Program::Use& use) {
  if (std::find(elided_.begin(), elided_.end(), use.slot) != elided_.end()) return;
  auto known = std::find_if(uses_.begin(), uses_.end(), [&](auto& other) { return other.slot == use.slot; });
  if (known == uses_.end()) return uses_.push_back(use);
  const bool one_region = known->region == use.region;
  if (known->mode == Mode::read && use.mode != Mode::read) known->mode = Mode::update;
  if (!one_region && known->mode == Mode::write && known->region) known->mode = Mode::update;
  if (!one_region) known->region.reset();
  known->loose = known->loose || use.loose;
}

// Patches and plan of an instance that has all ops.
void StepGroup::finish(Instance& instance) const {
  for (int slot : elided_) instance.group->elide(storages_.at(slot).storage());
  for (size_t i = 0; i < steps_.size(); ++i)
    for (size_t k = 0; k < steps_[i]->uses.size(); ++k) {
      const int slot = steps_[i]->uses[k].slot;
      auto outer = std::find_if(uses_.begin(), uses_.end(), [&](auto& use) { return use.slot == slot; });
      if (outer != uses_.end())
        instance.patches.push_back(
            {&instance.ops[i]->access(static_cast<int>(k)), static_cast<int>(outer - uses_.begin())});
    }
  instance.group->plan();
}

std::unique_ptr<StepGroup::Instance> StepGroup::take() const {
  std::lock_guard held(mutex_);
  if (!free_.empty()) {
    auto instance = std::move(free_.back());
    free_.pop_back();
    return instance;
  }
  auto instance = std::make_unique<Instance>();
  for (auto& step : steps_) join(*instance, op_of(*step));
  finish(*instance);
  return instance;
}

// For profiles: "fused", and the first few of its operations that differ.
std::string StepGroup::name_of_ops() const {
  std::vector<std::string> names;
  for (const auto& step : steps_)
    if (std::string name = step->op.kernel()->name(); std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  std::string all = "fused";
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) all += (i == 0 ? " " : ", ") + names[i];
  return names.size() > kMostNamed ? all + ", ..." : all;
}

size_t StepGroup::taken(const Slots& slots) const {
  size_t bytes = 0;
  for (const Program::Use& use : uses_)
    if (use.mode == Mode::write) bytes += slots[use.slot].bytes;
  return bytes;
}

std::unique_ptr<Step> StepGroup::step_of(std::shared_ptr<const StepGroup> group) {
  auto step = std::make_unique<Step>();
  const Op& first = group->steps_.front()->op;
  step->op.queue = first.queue, step->op.budget = first.budget;
  step->op.cost = static_cast<uint32_t>(std::min<uint64_t>(group->cost_, INT32_MAX));
  step->uses = group->uses_;
  step->op.emplace<FusedSteps>(std::move(group));
  return step;
}

// Whether it computes on processors and does nothing else. Others keep their order: what they do is seen outside.
bool plain(const Step& step) {
  const Op& op = step.op;
  return op.queue->kind == Queue::Kind::compute && !op.queue->lane && !op.may_wait();
}

bool may_fuse(const Step& step) { return plain(step) && step.op.kernel()->fusible(); }

// Steps that run in one place of a program, one after the other: those of a group, or one that is in none.
struct Unit {
  std::unique_ptr<Step> alone;
  std::shared_ptr<StepGroup> group;
  const Queue* queue;
  const MemoryBudget* budget;
  bool slow;                       // one thread works at it for long, or it may wait for others
  size_t slow_before;              // 1 + the last slow unit that it waits for; 0: none
  std::vector<size_t> after = {};  // units that it waits for
  size_t seen = 0;                 // the step for which it has been visited
};

// The graph of units, which has no circles.
class UnitGraph {
 public:
  UnitGraph(const Slots& slots, const FuseSettings& settings)
      : slots_(slots), settings_(settings), uses_(slots.size()) {}
  void add(std::unique_ptr<Step> step);
  // All in an order of their dependencies.
  std::vector<std::unique_ptr<Step>> steps();

 private:
  struct SlotUse {
    std::vector<size_t> readers;  // units that read what the writer left
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
  std::optional<size_t> ordered_;  // the last unit of those whose order stays
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

// Marks the units that some of these wait for. False: they are too many.
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

// Where the step has its place: in the group of a unit that nothing it waits for waits for, or in a new unit.
size_t UnitGraph::place(std::unique_ptr<Step>& step, const std::vector<size_t>& after, size_t slow_before) {
  const bool fusible = may_fuse(*step);
  auto may_join = [&](const Unit& unit) {
    return unit.group && unit.queue == step->op.queue && unit.budget == step->op.budget && unit.seen != number_ &&
           unit.slow_before == slow_before;  // neither waits for a slow unit that the other alone needs
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

// Those that wait for nothing come in the order of their first steps.
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
