// How many bools of an array are true.
#pragma once
#include "array/array.h"

namespace forerun {

// Of n bytes, those that are not 0.
int64_t count_true(const char* bools, int64_t n);

// out, an int64 without axes = how many bytes of a dense array of bools are not 0.
void build_count(Op& op, const Array& in, const Array& out);

}  // namespace forerun
