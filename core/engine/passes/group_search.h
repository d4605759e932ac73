// The search for ops to fuse with a given op.
#pragma once
#include <array>

#include "engine/passes/dead_ops.h"

namespace forerun {

// Visits only ops that read the results of an op that was tried, and the other dependencies of those: so the time of a
// search depends on the size of the group and its neighbours, not on the number of submitted ops. All with the engine's
// lock.
class GroupSearch {
 public:
  static constexpr uint64_t kReach = 1024;  // maximum distance, in ops submitted, between members of a group
  static constexpr int kMost = 512;         // ops that are tried for a group; as many waiting ops are visited
  // Ops outside of the group on which its members may depend: only those that have ended, or also those that are
  // placed.
  enum class Before { ended, placed };

  GroupSearch(const SubmissionRing& ring, DeadOps& dead_ops) : ring_(ring), dead_ops_(dead_ops) {}

  // Forms a group of `first` and of ops that fit, `most` at most: sets its group and members. False: no op fits, or
  // memory is exhausted.
  bool find(Op* first, size_t most, Before before);
  // How many dependencies of the found ops are on other ops that have not ended.
  int waits() const { return waits_; }

 private:
  static constexpr int kMostAround = 64;                     // neighbours of an op that are visited
  static constexpr int kAroundFirst = 48, kAroundEach = 16;  // waiting ops that may be visited, and for each member

  bool collect(Op* first, size_t most);
  void gather(Op* first, size_t most);
  void look_ahead(Op* op);
  void look_behind();
  void look(Op* op);
  bool may_join(const Op& op) const;
  void try_next();

  const SubmissionRing& ring_;
  DeadOps& dead_ops_;
  Before before_ = Before::ended;
  Op* first_ = nullptr;
  uint32_t round_ = 0;            // Op::seen is `round_` for an op with pending dependencies, and `round_ + 1` for one
                                  // that is found
  std::array<Op*, kMost> found_;  // to be tried, the oldest first: a heap
  std::array<Op*, kMost> waiting_;  // ops whose dependencies are to be visited
  int n_found_ = 0, n_waiting_ = 0;
  int may_find_ = 0, may_wait_ = 0;  // how many more ops it may find, and visit while they wait,
  int wait_left_ = 0;                // and how many in all, beyond these
  int waits_ = 0;
};

}  // namespace forerun
