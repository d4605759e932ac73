// Recording of the operations that this thread issues, to issue them again.
#pragma once

#include "array/array.h"
#include "capture/captured_program.h"

namespace forerun {

extern constinit thread_local Recording* capture;  // null: nothing is recorded

// Called before values are read: if the thread records, there will be no program, or it raises (Recording::strict).
void refuse_in_capture(const char* how);
// An array with values that this thread has just made without an op; while recording, they are copied anew in each run.
Array with_values(Array made);

}  // namespace forerun
