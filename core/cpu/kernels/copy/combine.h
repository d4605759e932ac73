// Functions that combine an element at a position with a value.
#pragma once
#include <cstdint>

#include "base/dtype.h"
#include "cpu/loops/loop.h"

namespace forerun {

// Elements at offsets, combined with values a step apart.
using EachFunction = void (*)(char* at, const int64_t* offsets, const char* from, int64_t step, int64_t n);
// The function of a formula for elements and values of one dtype; null if it has no function of its own.
EachFunction each_of(Formula formula, DType t);

// Applies a loop at each position, one after the other, so that an element whose position occurs twice is changed
// twice: element = loop(element, value), or loop(element) with n_in 1, where the values are not read. types: the
// loop's; an element is cast to them and back, values are of types[1].
struct Combine {
  const char* name = "";  // of the op; outlives it
  Loop loop;
  DType types[3];
  int n_in = 2;
  EachFunction each = nullptr;  // faster, for single elements; or null
  const char* ufunc = "";       // its name, which outlives the op, too
};
Combine adding(DType t);

}  // namespace forerun
