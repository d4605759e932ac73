// Waiting for values and for the engine, with the interpreter lock held.
#pragma once
#include <cstdint>
#include <vector>

#include "array/array.h"

namespace forerun {

// Waits until `array` has its values; raises if it is poisoned.
void wait_for(const Array& array);
// The same for a caller that does not look at the values: a program that is recorded may.
void wait_until_written(const Array& array);
// The same, but leaves a failure to those that read the values.
void wait_for_end(const Array& array);
// Whether all ops end within some microseconds; no signals are looked for.
bool all_end_within(int64_t microseconds);
// Waits until all of them have their values; raises what is wrong with them, several failures as a group.
void wait_for(const std::vector<Array>& arrays);
// Waits for all ops issued before `mark`; wait_all() raises the failures that have not been raised.
// `what`: why, if no call of the program asks for it.
void wait_mark(uint64_t mark, const char* what = nullptr);
void wait_all(uint64_t mark, const char* what = nullptr);
// Waits for all work, and ends the workers; they start again with the next op.
void quiesce();

}  // namespace forerun
