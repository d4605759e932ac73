// The positions in an array that index arrays or a mask select.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "array/array.h"
#include "base/error.h"
#include "engine/operations/op.h"

namespace forerun {

// Sets the offsets of n positions that are within the extent (negative ones count from its end), or adds them.
void add_offsets(int64_t* to, const int64_t* at, int64_t n, int64_t extent, int64_t by, bool put);

// The elements that integer arrays select, and the offset of each block of the remaining axes.
struct Selection {
  std::vector<Layout> indices;  // of `shape`, or without axes: numbers; or a mask alone
  bool masked = false;          // it is a mask: the axes that it covers have these strides
  Dims mask_strides;
  Dims flat, flat_strides;                // of an array whose elements the positions count in C order; empty otherwise
  std::vector<int64_t> extents, strides;  // of the indexed axes
  Dims shape;                             // of the index positions
  bool from_end = true;                   // negative ones count from the end
  Dims own;                               // strides along which a position's own coordinates count; empty: none do
  int first_access = 0;                   // of the op: the first index array
  int64_t positions = 0;                  // index positions
  // The offsets of all positions in the indexed array. Throws at an index out of range.
  std::unique_ptr<int64_t[]> offsets(Op& op, const char* what) const;
  // The offsets of the positions from `first` to `end`, of integer arrays. False: an index is out of range; then
  // offsets() throws at the first such index of all.
  bool offsets_between(Op& op, int64_t first, int64_t end, int64_t* to) const;
  // Throws at a number out of range.
  void check_numbers(Op& op, const char* what) const;
  // Whether the positions are a dense vector: then no table of offsets is needed.
  bool plain() const {
    return indices.size() == 1 && !masked && flat.empty() && own.size() <= 1 && indices[0].ndim() > 0 &&
           indices[0].dtype == DType::i64 && indices[0].contiguous();
  }
  // Those positions,
  const int64_t* plain_positions(Op& op) const { return reinterpret_cast<const int64_t*>(data(op, 0)); }
  // and whether n of them are in range. check(): throws at the first one out of range.
  bool are_within(const int64_t* at, int64_t n) const { return are_within(at, n, 0); }
  void check(const int64_t* at, const char* what) const;

 private:
  const char* data(Op& op, size_t k) const;
  void own_offsets(int64_t first, int64_t end, int64_t* to) const;
  // Calls f(at, n, p) with the n positions of an index array from the p-th on, chunk by chunk.
  template <class F>
  void in_chunks(Op& op, size_t k, int64_t first, int64_t end, F f) const;
  // Adds the positions of an index to the offsets, or sets them.
  void add(Op& op, size_t k, int64_t* all, bool first, const char* what) const;
  // As in NumPy a number is not an array: it is checked even if no element is selected, and it does not wrap.
  int64_t offset_of_number(Op& op, size_t k, const char* what) const;
  // Whether n positions are within the extent of an indexed axis.
  bool are_within(const int64_t* at, int64_t n, size_t k) const;
  int64_t offset_along(size_t k, int64_t i, const char* what) const;
  // Throws unless there are as many elements under the mask as positions.
  void under_mask(Op& op, int64_t* all, const char* what) const;
  Error out_of_range(ErrorKind kind, const char* what, int64_t extent, const std::string& got) const;
};

}  // namespace forerun
