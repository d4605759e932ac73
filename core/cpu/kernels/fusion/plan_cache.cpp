#include "cpu/kernels/fusion/plan_cache.h"

#include <algorithm>

#include "cpu/codegen/compiled_loops.h"
#include "cpu/kernels/fusion/plan_maker.h"

namespace forerun {

PlanCache& PlanCache::get() {
  static auto* all = new PlanCache;  // never destroyed: workers may outlive static destructors
  return *all;
}

namespace {

bool may_be_compiled(const Plan& plan) {
  return !plan.wanted.empty() &&
         std::all_of(plan.wanted.begin(), plan.wanted.end(), [](const auto& wanted) { return wanted.loop->settled(); });
}

void count(const Plan& plan) {
  for (const Plan::Wanted& wanted : plan.wanted) CompiledLoops::get().computed(wanted.loop, wanted.elements);
}

}  // namespace

// Null: not known, or to be made anew.
std::shared_ptr<const Plan> PlanCache::known(uint64_t hash, const std::vector<uint64_t>& signature) {
  std::lock_guard held(mutex_);
  const auto at = plans_.find(hash);
  if (at == plans_.end() || at->second->signature != signature || may_be_compiled(*at->second)) return nullptr;
  ++stats_.reused;
  return at->second;
}

std::shared_ptr<const Plan> PlanCache::plan(const FusedKernel& group, const std::vector<uint64_t>& signature) {
  uint64_t hash = 0;
  for (uint64_t word : signature) hash = (hash ^ word) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
  std::shared_ptr<const Plan> plan = known(hash, signature);
  if (!plan) {
    plan = make_plan(group);
    std::lock_guard held(mutex_);
    if (plans_.size() >= kMost) plans_.clear();  // a program that never repeats itself
    plans_[hash] = plan;
    ++stats_.made;
  }
  count(*plan);
  return plan;
}

std::shared_ptr<const Plan> PlanCache::renewed(const FusedKernel& group, std::shared_ptr<const Plan> old) {
  if (may_be_compiled(*old)) return plan(group, old->signature);
  count(*old);
  return old;
}

PlanCache::Stats PlanCache::stats() const {
  std::lock_guard held(mutex_);
  return stats_;
}

}  // namespace forerun
