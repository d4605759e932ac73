// Decides whether the memory of an op's outputs may be allocated now.
#pragma once
#include "engine/devices/devices.h"
#include "engine/graph/dependency_graph.h"
#include "engine/reports/failure_log.h"

namespace forerun {

// All with the engine's lock.
class MemoryAdmission {
 public:
  MemoryAdmission(const DeviceTable& devices, const DependencyGraph& graph, FailureLog& failures)
      : devices_(devices), graph_(graph), failures_(failures) {}

  // Whether the op, which lacks `to_take` bytes, may take them now.
  bool admits(Op& op) const;
  // The op must wait: because a limit would be exceeded, or only because older ops come first. Always false.
  bool refuse(Op& op) const;
  // Whether it was refused, and nothing has changed since. Examining an op with very many arrays takes long.
  bool refused_before(const Op& op) const;
  // Whether all ops before it have ended, also on other devices, where they may have held arrays of this one, and
  // besides tasks exactly `running` ops of its budget run.
  bool alone(const Op& op, int running) const;
  // Whether it is the oldest op, nothing of its budget runs or can run on another queue, and it still lacks memory.
  bool is_starved(Op& op) const;
  // Allocates memory for writes of parts, if an earlier op that should have done so has failed. False: other ops run,
  // which must end first.
  bool prepare_sections(Op& op);
  // Fails the op: nothing is left that could release memory.
  void fail(Op& op);

 private:
  bool all_tasks_wait() const;

  const DeviceTable& devices_;
  const DependencyGraph& graph_;
  FailureLog& failures_;
};

}  // namespace forerun
