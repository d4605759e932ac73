// Counts the true elements of an array of bools.
#pragma once
#include "array/array.h"

namespace forerun {

// The number of the n bytes that are not 0.
int64_t count_true(const char* bools, int64_t n);

// out, an int64 without axes = the number of bytes of a dense array of bools that are not 0.
void build_count(Op& op, const Array& in, const Array& out);

}  // namespace forerun
