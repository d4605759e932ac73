// A compiled inner loop, as NumPy's ufuncs have them: processes n elements of each operand, each with a stride of its
// own.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace forerun {

// args: first element of each operand (inputs, then outputs); n[0]: how many; steps: bytes to the next element.
using LoopFunction = void (*)(char** args, const intptr_t* n, const intptr_t* steps, void* data);
// The same for rows of n elements, which are `pitches` bytes apart in each operand.
using RowsFunction = void (*)(char** args, intptr_t rows, intptr_t n, const intptr_t* steps, const intptr_t* pitches,
                              void* data);

// The function that a loop computes, if each result is exact or rounded once, so that any code gives the same bits.
// Two steps of the first five can be one loop (pair_loop); loops that are compiled at run time have all of them.
enum class Formula : uint8_t {
  none,  // anything else
  add,
  subtract,
  multiply,
  divide,
  square,
  minimum,
  maximum,
  negative,
  absolute,
  sqrt,
  reciprocal,
  floor,
  ceil,
  trunc,
  rint,
  copysign,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  isnan,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  invert,
  select,  // of a condition, and two values
  cast,
  exp,  // not of that kind: no loop has it, but an operation has loops for it (exponential.h)
  count
};

// The checks of a loop that may throw.
enum class Checked : uint8_t { anything, exponents, limits };  // of integers; those of limits.h

// A piece of a row that is concatenated from pieces of several arrays.
struct Piece {
  int64_t bytes, pitch;  // and the distance to the piece of the next row
};

struct Loop {
  LoopFunction function = nullptr;
  void* data = nullptr;
  bool packed =
      false;  // its last bits depend on strides: for the same bits whatever the layout, operands must be packed
  bool may_throw = false;               // for values that it rejects,
  Checked checked = Checked::anything;  // by this check
  bool adds = false;                    // of two operands; in a sum, faster ways of adding may be used
  Formula formula = Formula::none;
  uint8_t eighths = 4;             // of a nanosecond: about the time for an element of an operand (set_eighths())
  DType pair_dtype = DType::b1;    // f32 or f64, of all operands: it can be part of a pair_loop()
  RowsFunction rows = nullptr;     // null: row by row
  const Loop* fallback = nullptr;  // NumPy's, which it calls for steps that it does not support
  explicit operator bool() const { return function != nullptr; }
};

}  // namespace forerun
