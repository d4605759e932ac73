// Settings of the engine, for Python.
#pragma once
#include <cstdint>
#include <vector>

namespace forerun {

// Waits for all work, then sets the workers per device, the number of cores, the number of ops that may be in flight,
// and the threads per device for files.
void configure(const std::vector<int>& workers, int cores, uint64_t ops_ahead, int io_threads);

}  // namespace forerun
