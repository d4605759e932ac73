// Waiting for values and for the engine, with the interpreter lock held.
#pragma once
#include <cstdint>
#include <vector>

#include "array/array.h"

namespace forerun {

// Waits until `array` has its values; raises if it is poisoned.
void wait_for(const Array& array);
// The same for a caller that does not read the values: a program that is recorded may do so.
void wait_until_written(const Array& array);
// The same, but leaves a failure to readers of the values.
void wait_for_end(const Array& array);
// Whether all ops end within some microseconds; signals are not checked.
bool all_end_within(int64_t microseconds);
// Waits until all of them have their values; raises their failures, several of them as a group.
void wait_for(const std::vector<Array>& arrays);
// Waits for all ops issued before `mark`; wait_all() raises the failures that have not been raised. `what`: the cause,
// if the wait is not a call of the program.
void wait_mark(uint64_t mark, const char* what = nullptr);
void wait_all(uint64_t mark, const char* what = nullptr);
// Waits for all work, and ends the workers; they start again with the next op.
void quiesce();

}  // namespace forerun
