#include "capture/step_group.h"

#include <algorithm>
#include <utility>

namespace forerun {

using Step = Program::Step;

namespace {

constexpr size_t kMostNamed = 3;        // operations in the name of a group
constexpr uint64_t kPartCost = 25'000;  // ns: less is not worth another thread

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

  // The number of the group's tiles may change when its plan is made anew; the number of its parts does not.
  void run(Op& op, int64_t part) override {
    FusedGroup& group = *instance_->group;
    const int64_t tiles = group.tiles(), parts = group_->parts();
    for (int64_t tile = part * tiles / parts; tile < (part + 1) * tiles / parts; ++tile) group.run(op, tile);
  }

 private:
  std::shared_ptr<const StepGroup> group_;
  std::unique_ptr<StepGroup::Instance> instance_;  // null until prepare()
};

}  // namespace

bool StepGroup::add(std::unique_ptr<Step>& step, const std::vector<Program::Slot>& slots) {
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

std::unique_ptr<Op> StepGroup::op_of(const Step& step) const {
  return step.inner_op([&](int slot) { return storages_.at(slot).storage(); });
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

// Sets patches and plan of an instance that has all ops.
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

// For profiles: "fused", and the first few different names of its operations.
std::string StepGroup::name_of_ops() const {
  std::vector<std::string> names;
  for (const auto& step : steps_)
    if (std::string name = step->op.kernel()->name(); std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  std::string all = "fused";
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) all += (i == 0 ? " " : ", ") + names[i];
  return names.size() > kMostNamed ? all + ", ..." : all;
}

size_t StepGroup::taken(const std::vector<Program::Slot>& slots) const {
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

}  // namespace forerun
