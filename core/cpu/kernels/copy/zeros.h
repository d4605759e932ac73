// Large arrays of zeros.
#pragma once
#include "array/array.h"

namespace forerun {

// Bytes from which on zeros are pages that the system gives when they are first used, as calloc's are, instead of
// memory written now.
constexpr int64_t kPagesOfZeros = int64_t{16} << 20;

// Makes a dense array's memory zeros, of pages where whole ones lie in it.
void write_zeros(char* data, size_t bytes);
// to = 0: a new dense array of at least so many bytes.
void build_zeros(Op& op, const Array& to);

}  // namespace forerun
