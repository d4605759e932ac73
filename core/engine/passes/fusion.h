// Fusion: ops over the same elements run together as one group, tile by tile, so that intermediate values never
// reach memory.
#pragma once
#include <array>
#include <functional>

#include "engine/graph/devices.h"
#include "engine/passes/buffer_reuse.h"
#include "engine/passes/dead_ops.h"

namespace forerun {

// All with the engine's lock.
class Fusion {
 public:
  static constexpr uint64_t kReach = 1024;  // how far apart, in ops submitted, members of a group may stand

  Fusion(const PassSettings& settings, const SubmissionRing& ring, const DeviceTable& devices, DeadOps& dead_ops,
         BufferReuse& buffer_reuse, std::function<void(const Op&)> plan_behind)
      : settings_(settings), ring_(ring), devices_(devices), dead_ops_(dead_ops), buffer_reuse_(buffer_reuse),
        plan_behind_(std::move(plan_behind)) {}

  // Whether the cost of an op makes a group worth looking for.
  bool worth(const Op& op) const { return op.cost >= settings_.fuse_from(); }
  // Plans the groups of all ops up to this one, in program order. Whether there were any that had not been looked at.
  bool plan_until(uint64_t seq);
  // Whether the op, which waits for nothing, may start: neither it nor its planned group is waiting.
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
  uint64_t elided_bytes() const { return elided_bytes_; }  // of results that never had memory

 private:
  static constexpr int kMostFound = 512;  // ops that are tried for a group; as many are looked at that must wait,
  static constexpr int kMostAround = 64;  // and that are next to one of them

  void place(Op* op);
  void plan(Op* leader);
  void wait_planned(Op* leader);
  bool is_intact(const PlannedGroup& planned) const;
  bool take_planned(Op* first);
  static bool comes_early(const Op& op);
  void start_members(Op* first);
  bool collect_some(Op* first, size_t most);
  bool collect(Op* first, size_t most);
  bool collect_live(Op* first, size_t most);
  void gather(Op* first, size_t most);
  void look_ahead(Op* op);
  void look_behind();
  void look(Op* op);
  bool may_join(const Op& op) const;
  void try_next();
  bool admit(Op* first);

  const PassSettings& settings_;
  const SubmissionRing& ring_;
  const DeviceTable& devices_;
  DeadOps& dead_ops_;
  BufferReuse& buffer_reuse_;
  const std::function<void(const Op&)> plan_behind_;  // takes the ops submitted behind one into the graph
  uint64_t groups_ = 0, fused_ops_ = 0, elided_bytes_ = 0;
  // The search for the members of `first_`. Only ops that read the results of one that was tried are looked at, and the
  // ops that those wait for: so the search takes as long as the group and its neighbours are large, however much is
  // submitted.
  uint64_t next_ = 0;   // number of the next op to be placed
  bool plans_ = false;  // the search is for a planned group: placed ops count as ended
  int waits_ = 0;       // dependencies of what was found on others that have not ended
  Op* first_ = nullptr;
  uint32_t round_ = 0;                   // of the search: an op that has Op::seen of `round_` waits for others,
                                         // and one of `round_ + 1` has been found
  std::array<Op*, kMostFound> found_;    // to be tried, the oldest first: a heap
  std::array<Op*, kMostFound> waiting_;  // whose dependencies are to be looked at
  int n_found_ = 0, n_waiting_ = 0;
  int may_find_ = 0, may_wait_ = 0;  // how many more
};

}  // namespace forerun
