// Traverses an iteration space with a loop.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "array/iteration_space.h"
#include "cpu/loops/loop.h"

namespace forerun {

// Elements `at` to `at + n` of a nest of that shape, by a loop that reads all operands in place. Operands with strides
// start at args[k]; those without have consecutive elements of sizes[k] bytes, the first of them at args[k]; or if
// there is a pitch, rows of consecutive elements that are so many elements apart. It processes stretch by stretch of
// the innermost axis, or as many whole ones at once as the next axis has. `most`: operands.
template <int most = IterationSpace::kMaxOperands>
void loop_over(const Loop& loop, int operands, const Dims& shape, const Dims* const* strides, char* const* args,
               const intptr_t* sizes, int64_t at, int64_t n, int64_t pitch = 0) {
  int axes = shape.size() - 1;
  int64_t inner = shape.back(), row = at / inner, column = at % inner;
  int64_t index[kMaxDims];
  char* base[most];  // of the row, for operands with strides
  intptr_t steps[most], pitches[most];
  for (int k = 0; k < operands; ++k) {
    base[k] = args[k];
    steps[k] = strides[k] ? strides[k]->back() : sizes[k];
    pitches[k] = !strides[k] ? (pitch ? pitch : inner) * sizes[k] : axes > 0 ? (*strides[k])[axes - 1] : 0;
  }
  for (int a = axes - 1; a >= 0; --a) {
    index[a] = row % shape[a];
    row /= shape[a];
    for (int k = 0; k < operands; ++k)
      if (strides[k]) base[k] += index[a] * (*strides[k])[a];
  }
  for (int64_t done = 0; done < n;) {
    intptr_t rows = 1, count = std::min(inner - column, n - done);
    char* at_once[most];
    for (int k = 0; k < operands; ++k)
      at_once[k] =
          strides[k] ? base[k] + column * steps[k] : args[k] + (pitch ? done / inner * pitch : done) * sizes[k];
    if (loop.rows && axes > 0 && count == inner) rows = std::min((n - done) / inner, shape[axes - 1] - index[axes - 1]);
    // Keep step 0 even for a single element: some loops (power) test it.
    if (rows > 1 || !loop.function)  // a compiled loop has only `rows`
      loop.rows(at_once, rows, count, steps, pitches, loop.data);
    else
      loop.function(at_once, &count, steps, loop.data);
    done += rows * count, column = 0;
    for (int a = axes - 1; a >= 0; --a, rows = 1) {
      index[a] += rows;
      bool wraps = index[a] == shape[a];
      int64_t by = wraps ? rows - shape[a] : rows;
      for (int k = 0; k < operands; ++k)
        if (strides[k]) base[k] += by * (*strides[k])[a];
      if (!wraps) break;
      index[a] = 0;
    }
  }
}

// Whether make_iteration_space() would keep these two axes as they are: the output's rows are in memory order, some
// operand has gaps between its rows, and rows are long enough for no other order to be worth a search.
inline bool are_long_rows(const Dims& shape, const Dims* const* strides, int operands) {
  constexpr int64_t kLong = 4;  // elements
  const Dims& to = *strides[operands - 1];
  if (shape[0] <= 1 || shape[1] < kLong || std::abs(to[0]) < std::abs(to[1])) return false;
  return std::any_of(strides, strides + operands, [&](const Dims* s) { return (*s)[0] != shape[1] * (*s)[1]; });
}

// All elements of operands of one non-empty shape, in any order. `strides` is overwritten.
inline void loop_over_all(const Loop& loop, int operands, const Dims& shape, const Dims** strides, char** args) {
  if (shape.size() == 1) {
    intptr_t n = shape[0], steps[IterationSpace::kMaxOperands];
    for (int k = 0; k < operands; ++k) steps[k] = (*strides[k])[0];
    return loop.function(args, &n, steps, loop.data);
  }
  if (shape.size() == 2 && are_long_rows(shape, strides, operands))
    return loop_over(loop, operands, shape, strides, args, nullptr, 0, product(shape));
  const IterationSpace space = make_iteration_space(shape, strides, operands);
  for (int k = 0; k < operands; ++k) strides[k] = &space.strides[k];
  loop_over(loop, operands, space.shape, strides, args, nullptr, 0, product(space.shape));
}

}  // namespace forerun
