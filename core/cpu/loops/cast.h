// Loops that convert elements, and choose between two.
#pragma once
#include "cpu/loops/loop.h"

namespace forerun {

// The loop that converts elements; one input, one output. As C converts, and the same for every value whatever its
// position (see `integer` in cast.cpp); complex to real drops the imaginary part.
Loop cast_loop(DType from, DType to);
// The loop of where(condition, a, b) for elements of dtype t: bool, t, t -> t.
Loop select_loop(DType t);

}  // namespace forerun
