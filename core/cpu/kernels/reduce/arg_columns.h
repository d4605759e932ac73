// The position of the largest or smallest element along an axis that is not the last one: rows are compared, of many
// columns at once.
#pragma once
#include "array/array.h"

namespace forerun {

// As build_arg() (cpu/kernels/sort/sort.h). False, and nothing done, if the axes behind `axis` are not dense, or have
// one element, or the elements are not real numbers that the CPU compares. The accesses of the op must have been added.
bool build_arg_columns(Op& op, const char* name, bool largest, const Array& in, int axis, const Array& out);

// Describes such an op, whose result is dense (device/op_spec.h).
void describe_arg(OpSpec& spec, bool largest, const Layout& in, int axis, int64_t out_offset);
void describe_arg(BriefSpec& brief, bool largest, const Layout& in, int axis, int64_t out_offset);

}  // namespace forerun
