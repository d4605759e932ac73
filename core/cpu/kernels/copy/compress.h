// Ops that copy the elements under a mask next to each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/array.h"
#include "engine/operations/op.h"

namespace forerun {

// The cost in ns of reading or writing the elements that a mask of that size chooses.
uint32_t cost_under(int64_t size, int64_t chosen);

// The number of true bytes of a dense mask before each piece into which build_select() cuts it, and in the whole mask
// at the end.
std::vector<int64_t> held_before(const char* mask, int64_t n);

// Copies the elements under a dense mask to an array of count_true() elements; and their positions.
void select_elements(const char* mask, const char* from, char* to, int64_t n, size_t item);
void list_positions(const char* mask, int64_t n, int64_t* to);

// to = from[mask], both dense and of one shape. before: held_before() of the mask; `to` is a vector with its last
// number of elements.
void build_select(Op& op, const Array& from, const Array& mask, const Array& to, std::vector<int64_t> before);

}  // namespace forerun
