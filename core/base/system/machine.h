// The machine's resources, as far as the system lets this process use them.
#pragma once
#include <cstddef>
#include <string>

namespace forerun {

// Cores that threads of this process may run on. On Windows no more than the job's share of processor time.
int usable_cores();
// Bytes of memory: the machine's, or the limit of the process.
size_t usable_memory();
// The processor's model and instruction sets. Differs between processors that cannot exchange machine code.
std::string processor_identity();

}  // namespace forerun
