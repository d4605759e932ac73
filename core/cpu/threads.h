// The CPU's worker threads.
#pragma once
#include "engine/engine.h"

namespace forerun {

// Lets the engine start and join its threads here.
void use_cpu_workers(Engine& engine);

// While it lives, a worker blocks no other signals than threads of the front end: other programs that it starts inherit
// that.
class FrontEndSignals {
 public:
  FrontEndSignals();
  FrontEndSignals(const FrontEndSignals&) = delete;
  ~FrontEndSignals();
};

}  // namespace forerun
