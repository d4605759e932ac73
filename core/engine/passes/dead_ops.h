// Dead operation elimination: an op whose results cannot be read any more does not run.
#pragma once
#include "engine/graph/dependency_graph.h"
#include "engine/passes/passes.h"

namespace forerun {

// All with the engine's lock.
class DeadOps {
 public:
  DeadOps(const PassSettings& settings, const SubmissionRing& ring, DependencyGraph& graph)
      : settings_(settings), ring_(ring), graph_(graph) {}

  // Whether no handle refers to its results, and no other submitted op uses them.
  bool dead(Op& op) const { return settings_.on(Pass::drop) && is_dead(op); }
  // The op will not run. It releases its storages now, which may make the ops dead that wrote them; it ends when its
  // dependencies have ended, as other ops may wait for it.
  void drop(Op* op);
  // Drops those of the planned ops first, ..., last - 1 that are dead; returns whether there were any.
  bool drop_all(uint64_t first, uint64_t last);
  uint64_t count() const { return count_; }

 private:
  static bool is_dead(Op& op);

  const PassSettings& settings_;
  const SubmissionRing& ring_;
  DependencyGraph& graph_;
  uint64_t count_ = 0;
};

}  // namespace forerun
