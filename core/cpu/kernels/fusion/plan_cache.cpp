#include "cpu/kernels/fusion/plan_cache.h"

#include "cpu/codegen/compiled_loops.h"
#include "cpu/kernels/fusion/plan_maker.h"

namespace forerun {

PlanCache& PlanCache::get() {
  static auto* all = new PlanCache;  // never destroyed: workers may outlive static destructors
  return *all;
}

// Null: none, or one that is to be made anew. `wanted`: its loops are worth compiling from now on.
std::shared_ptr<const Plan> PlanCache::known(uint64_t hash, const std::vector<uint64_t>& signature, bool& wanted) {
  CompiledLoops& loops = CompiledLoops::get();
  std::lock_guard held(mutex_);
  const auto at = plans_.find(hash);
  if (at == plans_.end() || at->second.plan->signature != signature) return nullptr;
  Entry& entry = at->second;
  if (!entry.plan->wanted.empty()) {
    entry.computed += entry.plan->work;
    if (!entry.requested && entry.computed >= loops.worth()) wanted = entry.requested = true;
    if (entry.requested && entry.settled != loops.settled()) return nullptr;
  }
  ++stats_.reused;
  return entry.plan;
}

std::shared_ptr<const Plan> PlanCache::plan(const FusedKernel& group, const std::vector<uint64_t>& signature) {
  uint64_t hash = 0;
  for (uint64_t word : signature) hash = (hash ^ word) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
  bool wanted = false;
  std::shared_ptr<const Plan> plan = known(hash, signature, wanted);
  if (!plan) {
    const uint64_t settled = CompiledLoops::get().settled();
    plan = PlanMaker(group).make();
    std::lock_guard held(mutex_);
    if (plans_.size() >= kMost) plans_.clear();  // a program that never repeats itself
    Entry& entry = plans_[hash];
    const bool again = entry.plan && entry.plan->signature == signature && entry.requested;
    wanted = !again && plan->work >= CompiledLoops::get().worth();
    entry = {plan, plan->work, settled, again || wanted};
    ++stats_.made;
  }
  if (wanted)
    for (const std::string& text : plan->wanted) CompiledLoops::get().request(text);
  return plan;
}

PlanStats PlanCache::stats() const {
  std::lock_guard held(mutex_);
  return stats_;
}

PlanStats plan_stats() { return PlanCache::get().stats(); }

}  // namespace forerun
