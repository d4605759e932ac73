// Sorts integers that lie close together, by counting how often each occurs, or digit by digit: in time proportional to
// their number.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace forerun {

// Writes the values in ascending order to `to`, which may be `values`. False: comparisons would be faster; nothing is
// written.
bool sort_by_counting(DType t, const char* values, char* to, int64_t n);
// The positions that sort the values; equal ones keep their order. False: comparisons would be faster; the output is
// undefined then.
bool argsort_by_digits(DType t, const char* values, intptr_t* to, int64_t n);

}  // namespace forerun
