// What the machine has, and what the system lets this process use of it.
#pragma once
#include <cstddef>
#include <string>

namespace forerun {

// Cores that threads of this process may run on. On Windows no more than the share of time that its job has.
int usable_cores();
// Bytes of memory: the machine's, or what the process itself is limited to.
size_t usable_memory();
// The processor's model and instructions. Differs where machine code may not be exchanged.
std::string processor_identity();

}  // namespace forerun
