// The limits on this process's use of the machine.
#pragma once
#include <cstddef>
#include <string>

namespace forerun {

// Each control group from the process's own up to the root may set a limit; the smallest one applies. `root` replaces
// /, for tests.

// Cores: the smaller of the affinity mask and the quota (rounded up), at least 1.
int granted_cores(const std::string& root = "");
// Bytes of memory: the smallest of the machine's, the groups' limits, and the process's limits on address space and
// data.
size_t granted_memory(const std::string& root = "");

}  // namespace forerun
