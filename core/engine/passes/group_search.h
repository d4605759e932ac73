// The search for ops to fuse with one.
#pragma once
#include <array>

#include "engine/passes/dead_ops.h"

namespace forerun {

// Only ops that read the results of one that was tried are looked at, and the ops that those wait for: so a search
// takes as long as the group and its neighbours are large, however much is submitted. All with the engine's lock.
class GroupSearch {
 public:
  static constexpr uint64_t kReach = 1024;  // how far apart, in ops submitted, members of a group may stand
  static constexpr int kMost = 512;         // ops that are tried for a group; as many are looked at that must wait
  // Ops outside of the group that its members may wait for: those that have ended alone, or those that are placed, too.
  enum class Before { ended, placed };

  explicit GroupSearch(DeadOps& dead_ops) : dead_ops_(dead_ops) {}

  // A group of `first` and of ops that fit, `most` at most: its group and members. False: there are none, or no memory
  // for a group.
  bool find(Op* first, size_t most, Before before);
  // How many dependencies of the ops that were found are on others that have not ended.
  int waits() const { return waits_; }

 private:
  static constexpr int kMostAround = 64;  // ops next to one that are looked at

  bool collect(Op* first, size_t most);
  void gather(Op* first, size_t most);
  void look_ahead(Op* op);
  void look_behind();
  void look(Op* op);
  bool may_join(const Op& op) const;
  void try_next();

  DeadOps& dead_ops_;
  Before before_ = Before::ended;
  Op* first_ = nullptr;
  uint32_t round_ = 0;            // an op that has Op::seen of `round_` waits for others, one of `round_ + 1` is found
  std::array<Op*, kMost> found_;  // to be tried, the oldest first: a heap
  std::array<Op*, kMost> waiting_;  // whose dependencies are to be looked at
  int n_found_ = 0, n_waiting_ = 0;
  int may_find_ = 0, may_wait_ = 0;  // how many more
  int waits_ = 0;
};

}  // namespace forerun
