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
        plan_behind_(std::move(plan_behind)), search_(ring, dead_ops) {}

  // Whether an op costs enough for a group to pay off.
  bool worth(const Op& op) const { return op.cost >= settings_.fuse_from(); }
  // Plans the groups of all ops up to this one, in program order. Returns whether there were any that were not placed.
  bool plan_until(uint64_t seq);
  // Plans the same for an op without pending dependencies. Returns whether it may start: its planned group, if any, is
  // not waiting.
  bool may_start(const Op& op);
  // Whether the op may be the first of a group.
  bool can_lead(Op& op) const;
  // Makes `first`, which may start, the first op of a group if there are ops to fuse it with. All dependencies of a
  // member are in the group too, or have ended. False: its planned group must wait for memory.
  bool fuse(Op* first);
  // Resets the group's ops to their state before it was made.
  static void dissolve(Op* first);
  // Cancels a planned group: its ops start one by one, or in other groups.
  static void disband(Op* leader);
  // The same for the planned group in which this op is waiting. Returns whether there was one.
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
  const std::function<void(const Op&)> plan_behind_;  // adds the ops submitted behind one to the graph
  uint64_t groups_ = 0, fused_ops_ = 0, elided_bytes_ = 0;
  GroupSearch search_;
  uint64_t next_ = 0;  // number of the next op to be placed
};

}  // namespace forerun
