// The element type of float16.
#pragma once

namespace forerun {

#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
using Half = __fp16;  // GCC before 13 has _Float16 only in C there
#else
using Half = _Float16;
#endif

}  // namespace forerun
