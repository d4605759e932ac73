// Large arrays of zeros.
#pragma once
#include "array/array.h"

namespace forerun {

// From this number of bytes on, zeros are pages that the system allocates when they are first used, as for calloc,
// instead of memory written now.
constexpr int64_t kPagesOfZeros = int64_t{16} << 20;

// Fills a dense array's memory with zeros, with fresh pages as far as it contains whole ones.
void write_zeros(char* data, size_t bytes);
// to = 0: a new dense array of at least kPagesOfZeros bytes.
void build_zeros(Op& op, const Array& to);

}  // namespace forerun
