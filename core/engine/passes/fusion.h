// Fusion: ops over the same elements run together as one group, tile by tile, so that intermediate values never
// reach memory.
#pragma once
#include <functional>

#include "engine/devices/devices.h"
#include "engine/passes/buffer_reuse.h"
#include "engine/passes/group_search.h"

namespace forerun {

// All with the engine's lock.
class Fusion {
 public:
  Fusion(const PassSettings& settings, const SubmissionRing& ring, const DeviceTable& devices, DeadOps& dead_ops,
         BufferReuse& buffer_reuse, std::function<void(const Op&)> plan_behind)
      : settings_(settings), ring_(ring), devices_(devices), dead_ops_(dead_ops), buffer_reuse_(buffer_reuse),
        plan_behind_(std::move(plan_behind)), search_(dead_ops) {}

  // Whether the cost of an op makes a group worth looking for.
  bool worth(const Op& op) const { return op.cost >= settings_.fuse_from(); }
  // Plans the groups of all ops up to this one, in program order. Whether there were any that had not been looked at.
  bool plan_until(uint64_t seq);
  // Plans the same for an op that waits for nothing. Whether it may start: its planned group, if any, is not waiting.
  bool may_start(const Op& op);
  // Whether a group may be looked for.
  bool can_lead(Op& op) const;
  // Makes `first`, which may start, the first op of a group if there are ops to fuse it with. All that a member waits
  // for is in the group too, or has ended. False: its planned group is to wait for memory.
  bool fuse(Op* first);
  // The group's ops are as before it was made.
  static void dissolve(Op* first);
  // The ops of a planned group start one by one, or in other groups.
  static void disband(Op* leader);
  // The same for the planned group that this op is waiting in. Whether there was one.
  static bool release(const Op* waiting);

  uint64_t groups() const { return groups_; }
  uint64_t fused_ops() const { return fused_ops_; }
  uint64_t elided_bytes() const { return elided_bytes_; }  // of results without memory

 private:
  void place(Op* op);
  void plan(Op* leader);
  void wait_planned(Op* leader);
  bool is_intact(const PlannedGroup& planned) const;
  bool take_planned(Op* first);
  static bool comes_early(const Op& op);
  void start_members(Op* first);
  bool collect_some(Op* first, size_t most);
  bool admit(Op* first);

  const PassSettings& settings_;
  const SubmissionRing& ring_;
  const DeviceTable& devices_;
  DeadOps& dead_ops_;
  BufferReuse& buffer_reuse_;
  const std::function<void(const Op&)> plan_behind_;  // takes the ops submitted behind one into the graph
  uint64_t groups_ = 0, fused_ops_ = 0, elided_bytes_ = 0;
  GroupSearch search_;
  uint64_t next_ = 0;  // number of the next op to be placed
};

}  // namespace forerun
