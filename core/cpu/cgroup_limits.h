// What this process may use of the machine.
#pragma once
#include <cstddef>
#include <string>

namespace forerun {

// Each control group from the process's own up to the root may set a limit, and the smallest one holds. `root` stands
// for /, for tests.

// Cores: the smaller of the affinity mask and the quota (rounded up), at least 1.
int granted_cores(const std::string& root = "");
// Bytes of memory: the smallest of the machine's, the groups' limits, and the process's own for addresses and data.
size_t granted_memory(const std::string& root = "");

}  // namespace forerun
