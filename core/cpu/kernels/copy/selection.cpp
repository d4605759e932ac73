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
  if (!own.empty()) own_offsets(0, positions, all.get());
  for (size_t k = 0; k < indices.size(); ++k) add(op, k, all.get(), k == 0 && own.empty(), what);
  return all;
}

bool Selection::offsets_between(Op& op, int64_t first, int64_t end, int64_t* to) const {
  bool put = own.empty(), within = true;
  if (!put) own_offsets(first, end, to);
  for (size_t k = 0; k < indices.size() && within; ++k, put = false) {
    if (indices[k].ndim() == 0) {
      const int64_t offset = offset_of_number(op, k, "");
      for (int64_t i = 0; i < end - first; ++i) to[i] = (put ? 0 : to[i]) + offset;
      continue;
    }
    in_chunks(op, k, first, end, [&](const int64_t* at, int64_t n, int64_t p) {
      within = within && are_within(at, n, k);
      if (within) add_offsets(to + (p - first), at, n, extents[k], strides[k], put);
    });
  }
  return within;
}

void Selection::check_numbers(Op& op, const char* what) const {
  for (size_t k = 0; k < indices.size(); ++k)
    if (indices[k].ndim() == 0) offset_of_number(op, k, what);
}

void Selection::check(const int64_t* at, const char* what) const {
  if (are_within(at, positions)) return;
  for (int64_t p = 0; p < positions; ++p) offset_along(0, at[p], what);
}

void Selection::own_offsets(int64_t first, int64_t end, int64_t* to) const {
  const Rows rows{shape};
  const int64_t n = shape.back(), step = own.back();
  for (int64_t p = first; p < end;) {
    const int64_t r = p / n, i = p % n, some = std::min(n - i, end - p);
    int64_t at = rows.at(r, own) + i * step;
    for (int64_t k = 0; k < some; ++k, at += step) to[p - first + k] = at;
    p += some;
  }
}

template <class F>
void Selection::in_chunks(Op& op, size_t k, int64_t first, int64_t end, F f) const {
  const Layout& l = indices[k];
  const char* base = data(op, k);
  const Rows rows{l.shape};
  const bool flat = l.contiguous();
  const int64_t n = flat ? l.size : l.shape.back(),
                step = flat ? static_cast<int64_t>(item_size(l.dtype)) : l.strides.back();
  const Loop widen = cast_loop(l.dtype, DType::i64);
  int64_t values[kChunk];
  for (int64_t p = first; p < end;) {
    const int64_t r = p / n, i = p % n;
    char* args[2] = {const_cast<char*>(base) + (flat ? 0 : rows.at(r, l.strides)) + i * step,
                     reinterpret_cast<char*>(values)};
    intptr_t length = std::min({kChunk, n - i, end - p}), steps[2] = {static_cast<intptr_t>(step), 8};
    const bool as_they_are = l.dtype == DType::i64 && step == 8;
    if (!as_they_are) widen.function(args, &length, steps, widen.data);
    f(as_they_are ? reinterpret_cast<const int64_t*>(args[0]) : values, length, p);
    p += length;
  }
}

void Selection::add(Op& op, size_t k, int64_t* all, bool first, const char* what) const {
  if (indices[k].ndim() == 0) {
    const int64_t offset = offset_of_number(op, k, what);
    for (int64_t p = 0; p < positions; ++p) all[p] = (first ? 0 : all[p]) + offset;
    return;
  }
  in_chunks(op, k, 0, positions, [&](const int64_t* at, int64_t n, int64_t p) {
    if (flat.empty() && are_within(at, n, k)) return add_offsets(all + p, at, n, extents[k], strides[k], first);
    for (int64_t i = 0; i < n; ++i) all[p + i] = (first ? 0 : all[p + i]) + offset_along(k, at[i], what);
  });
}

int64_t Selection::offset_of_number(Op& op, size_t k, const char* what) const {
  const Layout& l = indices[k];
  int64_t value;
  char* args[2] = {const_cast<char*>(data(op, k)), reinterpret_cast<char*>(&value)};
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
