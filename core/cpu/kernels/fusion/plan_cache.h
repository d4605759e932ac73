// Plans by their signature, for all groups.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cpu/kernels/fusion/plan.h"

namespace forerun {

class FusedKernel;

// Any thread.
class PlanCache {
 public:
  static PlanCache& get();
  // The plan of a group of this signature, which is to run once. It is made anew when its loops have been compiled.
  std::shared_ptr<const Plan> plan(const FusedKernel& group, const std::vector<uint64_t>& signature);
  // The same for a further run of a group that has a plan.
  std::shared_ptr<const Plan> renewed(const FusedKernel& group, std::shared_ptr<const Plan> plan);
  struct Stats {
    uint64_t made, reused;
  };
  Stats stats() const;

 private:
  static constexpr size_t kMost = 1024;

  std::shared_ptr<const Plan> known(uint64_t hash, const std::vector<uint64_t>& signature);

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<const Plan>> plans_;  // guarded by mutex_
  Stats stats_{};                                                    // guarded by mutex_
};

}  // namespace forerun
