// Ops that put the elements under a mask next to each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/array.h"
#include "engine/operations/op.h"

namespace forerun {

// How many bytes of a dense mask hold before each piece of it that build_select() cuts, and in all of it, at the end.
std::vector<int64_t> held_before(const char* mask, int64_t n);

// The elements under a dense mask, in as many places as count_true() says; and their positions.
void select_elements(const char* mask, const char* from, char* to, int64_t n, size_t item);
void list_positions(const char* mask, int64_t n, int64_t* to);

// to = from[mask], both dense and of one shape. before: held_before() of the mask; `to` is a vector of so many
// elements.
void build_select(Op& op, const Array& from, const Array& mask, const Array& to, std::vector<int64_t> before);

}  // namespace forerun
