// Integers that lie close together, sorted by counting how often each occurs, or digit by digit: in time that grows
// with their number alone.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace forerun {

// The values in ascending order, written to `to`, which may be where they are. False, and nothing is written: they are
// better compared.
bool sort_by_counting(DType t, const char* values, char* to, int64_t n);
// The positions that sort the values, equal ones in their order. False: they are better compared; what is written means
// nothing then.
bool argsort_by_digits(DType t, const char* values, intptr_t* to, int64_t n);

}  // namespace forerun
