// What this thread issues is recorded, to be issued again.
#pragma once

#include "array/array.h"
#include "capture/captured_program.h"

namespace forerun {

extern constinit thread_local Recording* capture;  // null: nothing is recorded

// Values are about to be looked at: if the thread records, there will be no program, or it raises (Recording::strict).
void refuse_in_capture(const char* how);
// An array with values that this thread has just made without an op; recorded, they are copied anew in each run.
Array with_values(Array made);

}  // namespace forerun
