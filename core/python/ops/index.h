// Reading and writing by position and under a mask.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/copy/copy.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/dispatch/ufunc_type.h"

namespace forerun {

// The operation of u.at with its loop, in the fastest way for elements of dtype t.
Combine combined(UfuncObject* u, const Signature& s, DType t);

}  // namespace forerun
