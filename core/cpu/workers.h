// The CPU's worker threads.
#pragma once
#include "engine/engine.h"

namespace forerun {

// Lets the engine start and join its threads here.
void use_cpu_workers(Engine& engine);

}  // namespace forerun
