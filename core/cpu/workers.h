// The CPU's worker threads.
#pragma once
#include "engine/engine.h"

namespace forerun {

// How many cores this process may use: the smaller of its affinity mask and its cgroup's quota (rounded up), at least 1.
int granted_cores();
// Bytes of memory this process may use: the smaller of the machine's and its cgroup's limit.
size_t granted_memory();
// Lets the engine start and join its threads here.
void use_cpu_workers(Engine& engine);

// While it lives, a worker blocks no other signals than threads of the front end: other programs that it starts inherit that.
class FrontEndSignals {
 public:
  FrontEndSignals();
  FrontEndSignals(const FrontEndSignals&) = delete;
  ~FrontEndSignals();
};

}  // namespace forerun
