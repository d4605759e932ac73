#include "cpu/loops/formulas.h"

#include <algorithm>
#include <iterator>

namespace forerun {

namespace {

constexpr const char* kNames[] = {
    "none",        "add",        "subtract",    "multiply",   "divide",        "square", "minimum",   "maximum",
    "negative",    "absolute",   "sqrt",        "reciprocal", "floor",         "ceil",   "trunc",     "rint",
    "copysign",    "less",       "less_equal",  "greater",    "greater_equal", "equal",  "not_equal", "isnan",
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert",     "select",        "cast",   "exp"};
static_assert(std::size(kNames) == static_cast<size_t>(Formula::count));

bool in(Formula f, Formula first, Formula last) { return first <= f && f <= last; }

// Whether the formula has inputs of this dtype.
bool has(Formula f, DType t) {
  if (t == DType::f32 || t == DType::f64)
    return in(f, Formula::add, Formula::square) || in(f, Formula::sqrt, Formula::isnan);
  if (t == DType::b1) return in(f, Formula::equal, Formula::not_equal) || in(f, Formula::bitwise_and, Formula::invert);
  return is_integer(t) && (in(f, Formula::add, Formula::multiply) || in(f, Formula::square, Formula::negative) ||
                           in(f, Formula::less, Formula::not_equal) || in(f, Formula::bitwise_and, Formula::invert));
}

}  // namespace

Formula formula_named(std::string_view name) {
  return static_cast<Formula>(std::find(std::begin(kNames), std::end(kNames), name) - std::begin(kNames));
}

bool has_formula(Formula formula, const DType* types, int operands) {
  const bool tests = in(formula, Formula::less, Formula::isnan);
  bool good = has(formula, types[0]) && types[operands - 1] == (tests ? DType::b1 : types[0]);
  for (int k = 1; k + 1 < operands; ++k) good = good && types[k] == types[0];
  return good;
}

void set_eighths(Loop& loop, Formula ufunc, DType dtype, bool slow) {
  if (loop.formula != Formula::none && loop.formula != Formula::sqrt)
    loop.eighths = 1;
  else if (is_complex(dtype) && (in(ufunc, Formula::add, Formula::multiply) || ufunc == Formula::negative))
    loop.eighths = 2;
  else if (dtype == DType::f64 && slow)
    loop.eighths = 32;
}

const char* name(Formula formula) { return kNames[static_cast<int>(formula)]; }

}  // namespace forerun
