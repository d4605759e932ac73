// The front end's data about accelerators: whether any are in use, and the operations that they do not support.
#pragma once
#include "array/array.h"
#include "engine/devices/memory_budget.h"

namespace forerun {

// The number of the first accelerator among the engine's devices; those before it are parts of the processor.
constexpr int kFirstAccelerator = 192;

extern bool has_accelerators;  // whether one has been used: operations are placed (placement/placement.h)

// An operation of this name was submitted to the host, as the accelerator has no code for it.
void note_fallback(const char* name);

// An array with the same values in the memory of the host: itself, or a copy that is submitted.
inline bool on_host(const Array& array) { return !array.storage()->budget->accelerator; }
Array host_copy(const Array& array);

}  // namespace forerun
