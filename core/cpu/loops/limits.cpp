#include "cpu/loops/limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "cpu/loops/cast.h"

namespace forerun {

namespace {

struct Limited {
  const Limits* limits;
  Loop to_double;
  size_t size;
  bool whole;  // integers: printed without a fraction
};

bool lies_within(const Limits& l, double v) {
  if (std::isnan(v)) return l.takes_nan;
  return (l.open_low ? v > l.low : v >= l.low) && (l.open_high ? v < l.high : v <= l.high);
}

// Formats a number as Python prints a float, or an integer.
std::string text_of(double v, bool whole) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  char text[32];
  std::string found(text, std::to_chars(text, text + sizeof text, v).ptr);
  bool plain = found.find_first_of(".e") == std::string::npos;
  return plain && !whole ? found + ".0" : found;
}

void copy_limited(char** args, const intptr_t* n, const intptr_t* steps, void* data) {
  const auto& limited = *static_cast<Limited*>(data);
  constexpr intptr_t kBlock = 256;
  double values[kBlock];
  for (intptr_t i = 0; i < *n; i += kBlock) {
    intptr_t count = std::min(kBlock, *n - i), wide[] = {steps[0], sizeof(double)};
    char* operands[] = {args[0] + i * steps[0], reinterpret_cast<char*>(values)};
    limited.to_double.function(operands, &count, wide, limited.to_double.data);
    const double* wrong =
        std::find_if(values, values + count, [&](double v) { return !lies_within(*limited.limits, v); });
    if (wrong != values + count)
      throw Error(limited.limits->overflow ? ErrorKind::overflow : ErrorKind::value,
                  limited.limits->message + ", got " + text_of(*wrong, limited.whole));
    for (intptr_t k = i; k < i + count; ++k) std::memcpy(args[1] + k * steps[1], args[0] + k * steps[0], limited.size);
  }
}

}  // namespace

Loop limiting_loop(DType t, const Limits* limits) {
  Loop loop{copy_limited, new Limited{limits, cast_loop(t, DType::f64), item_size(t), !is_inexact(t)}};
  loop.may_throw = true, loop.checked = Checked::limits;
  return loop;
}

const Limits& limits_of(const Loop& loop) { return *static_cast<Limited*>(loop.data)->limits; }

}  // namespace forerun
