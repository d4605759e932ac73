// Values that must lie between two numbers: a loop copies them, or rejects them when it runs.
#pragma once
#include <string>

#include "cpu/loops/loop.h"

namespace forerun {

// The numbers from `low` to `high`; an open end is excluded.
struct Limits {
  std::string message;  // the error's text before the value: "normal: scale must not be negative"
  double low, high;
  bool open_low, open_high;
  bool takes_nan;
  bool overflow;  // raise OverflowError, not ValueError
};

// The loop that copies elements of dtype t, and throws Error for the first one outside. Keeps `limits`, which must
// never be freed.
Loop limiting_loop(DType t, const Limits* limits);
const Limits& limits_of(const Loop& loop);

}  // namespace forerun
