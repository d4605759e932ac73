// Segments: consecutive steps of a plan that one loop can replace, which is compiled while the program runs. Values
// that only they use stay in registers. Each of their formulas is rounded once, as by a step: the bits are the same.
#pragma once
#include <cstdint>

#include "cpu/kernels/fusion/plan.h"

namespace forerun {

// Replaces segments by compiled steps, if all of their loops are compiled; else the plan's steps stay, and `wanted`
// names the loops. The plan's steps are in program order.
//
// A description of a loop is text, a line each: its operands in the order of its arguments, then its computations.
// Lines of the second kind, but for `store` and `sum`, have numbers from 0 on, by which others name their results.
//
//     operand float64 dense        elements of a row follow one another
//     operand float64 one          one element for all
//     operand float64 row          one element for a row
//     operand float64 strided 24   elements of a row are so many bytes apart
//     operand float64 sum          one element for a row, to which a sum is added
//     load float64 0               of operand 0
//     load float64 1
//     multiply float64 0 1         the formula, the dtype of its inputs, their numbers
//     cast float64 float32 2       from, to
//     store 2 3                    operand, number
//     sum 4 2                      operand, number of the values that are added up along a row
//
// Sums are those of a BlockedReduction, bit for bit. They come last, and all of their results have one size. The
// function is a RowsFunction with its steps built in.
//
// False: the steps are unchanged.
bool compile_segments(Plan& plan, int64_t elements);

}  // namespace forerun
