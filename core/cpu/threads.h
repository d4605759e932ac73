// The CPU's worker threads.
#pragma once
#include "engine/engine.h"

namespace forerun {

// Lets the engine start and join its threads here.
void use_cpu_workers(Engine& engine);

// While it lives, a worker blocks the same signals as threads of the front end: programs that it starts inherit the
// mask.
class FrontEndSignals {
 public:
  FrontEndSignals();
  FrontEndSignals(const FrontEndSignals&) = delete;
  ~FrontEndSignals();
};

}  // namespace forerun
