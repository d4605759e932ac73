// Reading and writing by position and under a mask.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/copy/combine.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/dispatch/ufunc_type.h"

namespace forerun {

// The combination that u.at applies with its loop, by the fastest function for elements of dtype t.
Combine combined(UfuncObject* u, const Signature& s, DType t);

}  // namespace forerun
