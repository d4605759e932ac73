// An op that copies each element of an axis a number of times.
#pragma once
#include <cstdint>
#include <vector>

#include "array/array.h"
#include "engine/operations/op.h"

namespace forerun {

// to = the rows from[:, i, :], each copied counts[i] times. `from` and `to` are dense and have three axes; counts: a
// dense vector of int64, which are not negative. before: the sum of the counts before each piece of `piece` positions,
// and of all. Error(runtime) if a sum is another one.
void build_repeat(Op& op, const Array& from, const Array& counts, std::vector<int64_t> before, int64_t piece,
                  const Array& to);

}  // namespace forerun
