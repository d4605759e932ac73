// Recording what this thread issues.
#pragma once
#include "bind/array.h"
#include "kernels/program.h"

namespace forerun {

extern constinit thread_local Recording* capture;  // null: nothing is recorded

// Raises if the thread records: values must not be looked at then.
void must_not_look(const char* how);
// An array with values that this thread has just made without an op; recorded, they are copied anew in each run.
Array with_values(Array made);

// The key of the next random numbers, of which `count` are drawn.
struct Key {
  uint64_t seed, number;
};
Key draw_numbers(uint64_t count);

}  // namespace forerun
