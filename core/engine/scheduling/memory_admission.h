// Whether an op may take the memory of its outputs now.
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
  // The op must wait: as more would be live than may be, or only as older ones come first. Always false.
  bool refuse(Op& op) const;
  // It was refused, and nothing has changed since. To look at an op of very many arrays takes long.
  bool refused_before(const Op& op) const;
  // Whether all before it has ended, on other devices too, which may have held arrays of this one, and of its budget
  // `running` ops run.
  bool alone(const Op& op, int running) const;
  // Whether it is the oldest op, nothing of its budget runs or can run on another queue, and still it lacks memory.
  bool is_starved(Op& op) const;
  // Memory for writes of parts, where an op before them has failed that should have seen to it. False: others run,
  // which must end first.
  bool prepare_sections(Op& op);
  // Nothing is left that could give memory back.
  void fail(Op& op);

 private:
  bool all_tasks_wait() const;

  const DeviceTable& devices_;
  const DependencyGraph& graph_;
  FailureLog& failures_;
};

}  // namespace forerun
