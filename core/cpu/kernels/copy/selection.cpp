#include "cpu/kernels/copy/selection.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/simd/simd_target.h"
#include "cpu/kernels/snapshot.h"
#include "cpu/loops/cast.h"
#include "cpu/loops/loop.h"

namespace forerun {

namespace {

constexpr int64_t kChunk = 512;  // positions that are converted at once

// Whether all of n positions are at least -below and less than span - below.
FORERUN_CLONES bool all_within(const int64_t* at, int64_t n, uint64_t below, uint64_t span) {
  uint64_t out = 0;
  for (int64_t i = 0; i < n; ++i) out |= static_cast<uint64_t>(at[i]) + below >= span;
  return out == 0;
}

}  // namespace

FORERUN_CLONES void add_offsets(int64_t* to, const int64_t* at, int64_t n, int64_t extent, int64_t by, bool put) {
  if (put)
    for (int64_t i = 0; i < n; ++i) to[i] = (at[i] + (at[i] >> 63 & extent)) * by;
  else
    for (int64_t i = 0; i < n; ++i) to[i] += (at[i] + (at[i] >> 63 & extent)) * by;
}

bool Selection::are_within(const int64_t* at, int64_t n, size_t k) const {
  const auto extent = static_cast<uint64_t>(extents[k]);
  return all_within(at, n, from_end ? extent : 0, from_end ? 2 * extent : extent);
}

int64_t Selection::offset_along(size_t k, int64_t i, const char* what) const {
  if (i < (from_end ? -extents[k] : 0) || i >= extents[k])
    throw out_of_range(ErrorKind::index, what, extents[k], std::to_string(i));
  if (i < 0) i += extents[k];
  return flat.empty() ? i * strides[k] : offset_at(i, flat, flat_strides);
}

const char* Selection::data(Op& op, size_t k) const {
  return operand_data(op, first_access + static_cast<int>(k), indices[k].offset);
}

std::unique_ptr<int64_t[]> Selection::offsets(Op& op, const char* what) const {
  auto all = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(std::max<int64_t>(1, positions)));
  if (masked) return under_mask(op, all.get(), what), std::move(all);
  if (!own.empty()) own_offsets(all.get());
  for (size_t k = 0; k < indices.size(); ++k) add(op, k, all.get(), k == 0 && own.empty(), what);
  return all;
}

const int64_t* Selection::checked(Op& op, const char* what) const {
  const auto* at = reinterpret_cast<const int64_t*>(data(op, 0));
  if (are_within(at, positions, 0)) return at;
  for (int64_t p = 0; p < positions; ++p) offset_along(0, at[p], what);
  return at;
}

void Selection::own_offsets(int64_t* all) const {
  const Rows rows{shape};
  const int64_t n = shape.back(), step = own.back();
  for (int64_t r = 0, count = positions ? rows.count() : 0; r < count; ++r) {
    int64_t at = rows.at(r, own);
    for (int64_t i = 0; i < n; ++i, at += step) all[r * n + i] = at;
  }
}

void Selection::add(Op& op, size_t k, int64_t* all, bool first, const char* what) const {
  const Layout& l = indices[k];
  const char* base = data(op, k);
  if (l.ndim() == 0) {
    const int64_t offset = offset_of_number(l, k, base, what);
    for (int64_t p = 0; p < positions; ++p) all[p] = (first ? 0 : all[p]) + offset;
    return;
  }
  const Rows rows{l.shape};
  const int64_t n = l.shape.back(), step = l.strides.back();
  const Loop widen = cast_loop(l.dtype, DType::i64);
  int64_t values[kChunk];
  for (int64_t r = 0, count = positions ? rows.count() : 0; r < count; ++r) {
    for (int64_t done = 0; done < n; done += kChunk) {
      char* args[2] = {const_cast<char*>(base) + rows.at(r, l.strides) + done * step, reinterpret_cast<char*>(values)};
      intptr_t length = std::min(kChunk, n - done), steps[2] = {static_cast<intptr_t>(step), 8};
      const bool as_they_are = l.dtype == DType::i64 && step == 8;
      const auto* at = as_they_are ? reinterpret_cast<const int64_t*>(args[0]) : values;
      if (!as_they_are) widen.function(args, &length, steps, widen.data);
      int64_t* to = all + r * n + done;
      if (flat.empty() && are_within(at, length, k))
        add_offsets(to, at, length, extents[k], strides[k], first);
      else
        for (int64_t i = 0; i < length; ++i) to[i] = (first ? 0 : to[i]) + offset_along(k, at[i], what);
    }
  }
}

int64_t Selection::offset_of_number(const Layout& l, size_t k, const char* from, const char* what) const {
  int64_t value;
  char* args[2] = {const_cast<char*>(from), reinterpret_cast<char*>(&value)};
  intptr_t one = 1, steps[2] = {0, 8};
  const Loop widen = cast_loop(l.dtype, DType::i64);
  widen.function(args, &one, steps, widen.data);
  if (l.dtype == DType::u64 && value < 0)
    throw out_of_range(ErrorKind::overflow, what, extents[k], std::to_string(static_cast<uint64_t>(value)));
  return offset_along(k, value, what);
}

void Selection::under_mask(Op& op, int64_t* all, const char* what) const {
  const Layout& l = indices[0];
  const char* base = data(op, 0);
  const Rows rows{l.shape};
  const int64_t n = l.shape.back(), step = l.strides.back(), by = mask_strides.back();
  int64_t found = 0;
  for (int64_t r = 0, count = l.size ? rows.count() : 0; r < count; ++r) {
    const char* mask = base + rows.at(r, l.strides);
    int64_t at = rows.at(r, mask_strides);
    for (int64_t i = 0; i < n; ++i, mask += step, at += by)
      if (*mask && found++ < positions) all[found - 1] = at;
  }
  if (found != positions)
    throw Error(ErrorKind::value, std::string(what) + ": there must be a value for each of " + std::to_string(found) +
                                      " elements under the mask, got " + std::to_string(positions));
}

Error Selection::out_of_range(ErrorKind kind, const char* what, int64_t extent, const std::string& got) const {
  return Error(kind, std::string(what) + ": index must be in [" + std::to_string(from_end ? -extent : 0) + ", " +
                         std::to_string(extent) + "), got " + got);
}

}  // namespace forerun
