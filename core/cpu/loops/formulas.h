// The formula that a loop computes, by the names of NumPy's ufuncs.
#pragma once
#include <string_view>

#include "cpu/loops/loop.h"

namespace forerun {

// The formula of this name; `count` for any other name.
Formula formula_named(std::string_view name);
const char* name(Formula formula);

// Whether a ufunc of NumPy's with this formula has it for operands of these dtypes, inputs before the output; not if
// its results may depend on the code that computes it. The lesser and the greater of two floating numbers, and their
// signs, are left out: of zeros and NaNs versions of NumPy differ, and arithmetic_loop() compares.
bool has_formula(Formula formula, const DType* types, int operands);

// Sets about how long a loop of NumPy's takes, by its formula and the dtype of the first operand. `ufunc`: the formula
// for the dtypes that have one. slow: several nanoseconds for each element in double precision. Measured for NumPy 2.4
// with vectors of 32 bytes; a factor of two either way makes no difference to what depends on it.
void set_eighths(Loop& loop, Formula ufunc, DType dtype, bool slow);
// Whether loops that are compiled at run time have values of a dtype.
constexpr bool is_compiled(DType t) { return t == DType::b1 || is_integer(t) || t == DType::f32 || t == DType::f64; }

}  // namespace forerun
