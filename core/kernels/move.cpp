#include "kernels/move.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "base/bfloat16.h"
#include "base/rounding.h"
#include "kernels/arithmetic.h"

namespace forerun {

namespace {

constexpr int64_t kTile = int64_t{1} << 17;  // elements that one worker takes at once
constexpr int64_t kLeastRow = 64;            // of them next to each other, where rows are cut

uint32_t cost_of(int64_t bytes) { return static_cast<uint32_t>(std::min<int64_t>(50 + bytes / 4, INT32_MAX)); }

// Elements `at` to `at + n` of a nest of two operands.
void copy_nest(const Nest& nest, const char* from, char* to, int64_t at, int64_t n, const Loop& loop) {
  const Dims* strides[] = {&nest.strides[0], &nest.strides[1]};
  char* args[] = {const_cast<char*>(from), to};
  walk_nest(loop, 2, nest.shape, strides, args, nullptr, at, n);
}

// Whether writing one may change what is read of the other.
bool overlap(const Storage* a, const Layout& of_a, const Storage* b, const Layout& of_b) {
  if (a != b) return false;
  auto [low, high] = of_a.range();
  auto [from, to] = of_b.range();
  return low < to && from < high;
}

// A copy of the bytes that an op reads, where it writes them as well.
class Snapshot {
 public:
  // data: of the element at `offset` of the storage. Returns where it stands in the copy of the storage's bytes in `range`.
  const char* take(const char* data, int64_t offset, std::pair<int64_t, int64_t> range) {
    size_t bytes = static_cast<size_t>(range.second - range.first);
    bytes_.reset(new char[bytes]);
    std::memcpy(bytes_.get(), data - offset + range.first, bytes);
    return bytes_.get() + (offset - range.first);
  }

 private:
  std::unique_ptr<char[]> bytes_;
};

// Positions of all axes but the last.
struct Rows {
  Dims shape;
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i + 1 < shape.size(); ++i) n *= shape[i];
    return n;
  }
  int64_t at(int64_t row, const Dims& strides) const {
    int64_t offset = 0;
    for (int i = shape.size() - 2; i >= 0; --i) {
      offset += row % shape[i] * strides[i];
      row /= shape[i];
    }
    return offset;
  }
};

class CopyKernel final : public Kernel {
 public:
  const char* name() const override { return scalar ? "full" : from_type == to_type ? "copy" : "astype"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override {
    if (empty) return;
    const char* from = scalar ? reinterpret_cast<const char*>(scalar->bytes) : operand_data(op, 0, from_offset);
    char* to = operand_data(op, scalar ? 0 : 1, to_offset);
    Snapshot snapshot;
    if (overlaps) from = snapshot.take(from, from_offset, range);
    int64_t first = tile * per_tile;
    copy_nest(nest, from, to, first, std::min(elements_ - first, per_tile), cast_loop(from_type, to_type));
  }

  Nest nest;
  DType from_type, to_type;
  int64_t from_offset = 0, to_offset = 0;
  std::optional<Scalar> scalar;
  std::pair<int64_t, int64_t> range;  // of the source
  bool overlaps = false, empty = false;
  int64_t elements_ = 0, per_tile = 0, tiles_ = 1;  // a tile has whole rows, or a part of the only one

  void prepare(const Dims& shape, const Dims& from, const Dims& to) {
    const Dims* strides[] = {&from, &to};
    nest = make_nest(shape, strides, 2);
    empty = product(shape) == 0;
    elements_ = per_tile = product(shape);
    if (empty || overlaps) return;
    int64_t n = nest.shape.back();
    per_tile = elements_ > n ? std::max<int64_t>(1, kTile / n) * n : kTile;
    tiles_ = ceil_div(elements_, per_tile);
  }
};

}  // namespace

void build_copy(Op& op, const Array& from, const Array& to) {
  Layout seen = broadcast_to("assign", from.layout, to.layout.shape);
  bool overlaps = overlap(from.storage(), from.layout, to.storage(), to.layout);
  op.add(from.storage(), Mode::read);
  op.add(to.storage(), from.storage() == to.storage() ? Mode::update : to.write_mode());
  op.cost = cost_of(to.layout.nbytes());
  CopyKernel& k = op.emplace<CopyKernel>();
  k.from_type = from.layout.dtype, k.to_type = to.layout.dtype;
  k.from_offset = seen.offset, k.to_offset = to.layout.offset;
  k.overlaps = overlaps, k.range = from.layout.range();
  k.prepare(to.layout.shape, seen.strides, to.layout.strides);
}

void build_fill(Op& op, const Scalar& scalar, const Array& to) {
  op.add(to.storage(), to.write_mode());
  op.cost = cost_of(to.layout.nbytes());
  CopyKernel& k = op.emplace<CopyKernel>();
  k.from_type = k.to_type = to.layout.dtype;
  k.to_offset = to.layout.offset;
  k.scalar = scalar;
  k.prepare(to.layout.shape, Dims(to.layout.ndim()), to.layout.strides);
}

namespace {

class ConcatenateKernel final : public Kernel {
 public:
  const char* name() const override { return "concatenate"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return static_cast<int64_t>(ends.size()); }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override {
    for (size_t i = tile > 0 ? ends[tile - 1] : 0; i < ends[tile]; ++i) copy_one(op, i);
  }
  // Once all are there: small ones go together.
  void cut() {
    int64_t elements = 0;
    for (size_t i = 0; i < from.size(); ++i)
      if ((elements += from[i].size) >= kTile / 8 || i + 1 == from.size()) ends.push_back(i + 1), elements = 0;
  }
  std::vector<Layout> from, to;
  std::vector<size_t> ends;  // of the tiles, by number of the array

 private:
  void copy_one(Op& op, size_t i) {
    const Layout &f = from[i], &t = to[i];
    if (f.size == 0) return;
    const Dims* strides[] = {&f.strides, &t.strides};
    Nest nest = make_nest(f.shape, strides, 2);
    copy_nest(nest, operand_data(op, static_cast<int>(i), f.offset), operand_data(op, static_cast<int>(from.size()), t.offset), 0, f.size, cast_loop(t.dtype, t.dtype));
  }
};

}  // namespace

void build_concatenate(Op& op, const std::vector<Array>& arrays, int axis, const Array& to) {
  ConcatenateKernel& k = op.emplace<ConcatenateKernel>();
  int64_t at = 0;
  for (const Array& a : arrays) {
    op.add(a.storage(), Mode::read);
    k.from.push_back(a.layout);
    Layout part = a.layout;
    part.strides = to.layout.strides;
    part.offset = to.layout.offset + at * to.layout.strides[axis];
    at += a.layout.shape[axis];
    k.to.push_back(part);
  }
  k.cut();
  op.add(to.storage(), to.write_mode());
  op.cost = cost_of(to.layout.nbytes());
}

namespace {

// Where element i of a block of this shape lies.
int64_t offset_of(int64_t i, const Dims& shape, const int64_t* strides) {
  int64_t offset = 0;
  for (int d = shape.size() - 1; d >= 0; --d) offset += i % shape[d] * strides[d], i /= shape[d];
  return offset;
}

// Elements that integer arrays select, and where each block of the rest lies.
struct Selection {
  std::vector<Layout> indices;            // of `shape`, or without axes: numbers
  std::vector<int64_t> extents, strides;  // of the indexed axes
  Dims shape;                             // of the index positions
  bool from_end = true;                   // negative ones count from the end
  Dims own;                               // strides along which a position's own coordinates count; empty: they do not
  int first_access = 0;                   // of the op: the first index array
  int64_t positions = 0;                  // index positions
  // Offsets of all positions in the indexed array. Throws at an index out of range.
  std::vector<int64_t> offsets(Op& op, const char* what) const {
    std::vector<int64_t> all(static_cast<size_t>(positions), 0);
    std::vector<int64_t> values(static_cast<size_t>(std::max<int64_t>(1, positions)));
    if (!own.empty())
      for (int64_t p = 0; p < positions; ++p) all[p] = offset_of(p, shape, own.begin());
    for (size_t k = 0; k < indices.size(); ++k) {
      bool number = indices[k].ndim() == 0;
      read(op, k, values.data());
      // As in NumPy a number is no array: it is looked at where nothing is picked, and it does not wrap.
      if (number && indices[k].dtype == DType::u64 && values[0] < 0)
        throw out_of_range(ErrorKind::overflow, what, extents[k], std::to_string(static_cast<uint64_t>(values[0])));
      int64_t offset = number ? offset_along(k, values[0], what) : 0;
      for (int64_t p = 0; p < positions; ++p) all[p] += number ? offset : offset_along(k, values[p], what);
    }
    return all;
  }

 private:
  void read(Op& op, size_t k, int64_t* values) const {
    const Layout& l = indices[k];
    const char* base = operand_data(op, first_access + static_cast<int>(k), l.offset);
    Loop widen = cast_loop(l.dtype, DType::i64);
    Dims dims = l.ndim() ? l.shape : Dims{1}, strides_of = l.ndim() ? l.strides : Dims{0};
    Rows rows{dims};
    int64_t n = dims.back();
    for (int64_t r = 0, count = rows.count(); r < count; ++r) {
      char* args[2] = {const_cast<char*>(base) + rows.at(r, strides_of), reinterpret_cast<char*>(values + r * n)};
      intptr_t length = n, steps[2] = {static_cast<intptr_t>(strides_of.back()), 8};
      widen.function(args, &length, steps, widen.data);
    }
  }
  int64_t offset_along(size_t k, int64_t i, const char* what) const {
    if (i < (from_end ? -extents[k] : 0) || i >= extents[k]) throw out_of_range(ErrorKind::index, what, extents[k], std::to_string(i));
    return (i < 0 ? i + extents[k] : i) * strides[k];
  }
  Error out_of_range(ErrorKind kind, const char* what, int64_t extent, const std::string& got) const {
    return Error(kind, std::string(what) + ": index must be in [" + std::to_string(from_end ? -extent : 0) + ", " + std::to_string(extent) + "), got " + got);
  }
};


class IndexKernel final : public Kernel {
 public:
  enum class Do { gather, set, add };
  const char* name() const override { return what == Do::gather ? "take" : what == Do::set ? "put" : "add_at"; }
  // What is picked is cut by units: one position of the index, in one place of the axes before it. What is written is cut along the
  // last axis, as positions may come more than once.
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void prepare(Op& op) override { offsets_ = selection.offsets(op, said ? said : what == Do::gather ? "take" : "put"); }
  void run(Op& op, int64_t tile) override {
    if (other.size == 0) return;
    char* a = operand_data(op, a_access, array.offset);
    char* b = operand_data(op, b_access, other.offset);
    Snapshot snapshot;
    if (overlaps) b = const_cast<char*>(snapshot.take(b, other.offset, other.range()));
    int k = selection.own.empty() ? static_cast<int>(selection.indices.size()) : array.ndim();
    Layout index;
    index.shape = selection.shape;
    Dims before(other.shape.begin(), axis), after(array.shape.begin() + axis + k, array.ndim() - axis - k);
    int n_index = index.shape.size();
    Dims middle_b(other.strides.begin() + axis, n_index), after_b(other.strides.begin() + axis + n_index, after.size());
    Dims after_a(array.strides.begin() + axis + k, after.size());
    const bool gathers = what == Do::gather;
    if (!gathers && tiles_ > 1) {
      int64_t first = tile * per_tile_, last = after.size() - 1;
      a += first * after_a[last], b += first * after_b[last];
      after[last] = std::min(per_tile_, after[last] - first);
    }
    int64_t positions = selection.positions, unit = gathers ? tile * per_tile_ : 0, end = product(before) * positions;
    if (gathers) end = std::min(end, unit + per_tile_);
    while (unit < end) {
      int64_t i = unit / positions, p = unit % positions, stop = std::min(positions, p + end - unit);
      unit += stop - p;
      char* row_a = a + offset_of(i, before, array.strides.begin());
      char* row_b = b + offset_of(i, before, other.strides.begin());
      if (gathers && after.empty() && (n_index == 1 || other.contiguous())) {
        int64_t step = n_index == 1 ? middle_b[0] : static_cast<int64_t>(item_size(other.dtype));
        pick(row_b + p * step, step, row_a, offsets_.data() + p, stop - p);
        continue;
      }
      for (; p < stop; ++p) move_block(row_a + offsets_[p], after_a, row_b + offset_of(p, index.shape, middle_b.begin()), after_b, after);
    }
  }

  Do what;
  Selection selection;
  Layout array, other;  // the indexed array; what is read from or put into it
  int axis = 0, a_access = 0, b_access = 0;
  const char* said = nullptr;  // what errors call it, if it is part of something else
  Loop add;
  bool overlaps = false;  // what is put lies where it is put

  void cut() {
    int64_t units = selection.positions;
    for (int i = 0; i < axis; ++i) units *= array.shape[i];
    if (what == Do::gather) {
      int64_t block = units > 0 ? std::max<int64_t>(1, other.size / units) : 1;
      per_tile_ = std::max<int64_t>(1, kTile / block);
      tiles_ = std::max<int64_t>(1, ceil_div(units, per_tile_));
      return;
    }
    const int k = static_cast<int>(selection.indices.size());
    const bool rows = selection.own.empty() && array.ndim() > axis + k;  // there is an axis that is not indexed
    const int64_t n = rows ? std::max<int64_t>(1, array.shape.back()) : 1;
    const int64_t pieces = overlaps ? 1 : std::clamp<int64_t>(other.size / kTile, 1, ceil_div(n, kLeastRow));
    per_tile_ = round_up(ceil_div(n, pieces), kLeastRow);
    tiles_ = ceil_div(n, per_tile_);
  }

 private:
  std::vector<int64_t> offsets_;  // of the positions
  int64_t per_tile_ = 1, tiles_ = 1;  // units of what is picked, or elements of the last axis that is written

  // Single elements.
  void pick(char* to, int64_t step, const char* from, const int64_t* offsets, int64_t n) const {
    auto each = [&](auto element) {
      for (int64_t p = 0; p < n; ++p) std::memcpy(to + p * step, from + offsets[p], sizeof element);
    };
    switch (item_size(array.dtype)) {
      case 1: return each(uint8_t{});
      case 2: return each(uint16_t{});
      case 4: return each(uint32_t{});
      case 8: return each(uint64_t{});
      default: return each(std::pair<uint64_t, uint64_t>{});
    }
  }
  void move_block(char* a, const Dims& a_strides, char* b, const Dims& b_strides, const Dims& shape) const {
    int64_t n = shape.empty() ? 1 : shape.back();
    Rows rows{shape.empty() ? Dims{1} : shape};
    intptr_t sa = shape.empty() ? 0 : a_strides.back(), sb = shape.empty() ? 0 : b_strides.back();
    Dims none{0};
    Loop copy = cast_loop(array.dtype, array.dtype);
    for (int64_t r = 0, count = rows.count(); r < count; ++r) {
      char* pa = a + rows.at(r, shape.empty() ? none : a_strides);
      char* pb = b + rows.at(r, shape.empty() ? none : b_strides);
      char* args[3] = {pa, pb, pa};
      intptr_t length = n, steps[3] = {sa, sb, sa};
      if (what == Do::gather)
        copy.function(args, &length, steps, copy.data);
      else if (what == Do::set)
        copy.function(args + 1, &length, steps + 1, copy.data);
      else
        add.function(args, &length, steps, add.data);
    }
  }
};

template <class T>
void add_loop_of(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  for (intptr_t i = 0; i < *n; ++i) {
    T a, b;
    std::memcpy(&a, args[0] + i * steps[0], sizeof a);
    std::memcpy(&b, args[1] + i * steps[1], sizeof b);
    a = static_cast<T>(a + b);
    std::memcpy(args[2] + i * steps[2], &a, sizeof a);
  }
}

template <class T>
void add_pair_of(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  for (intptr_t i = 0; i < *n; ++i) {
    T a[2], b[2];
    std::memcpy(a, args[0] + i * steps[0], sizeof a);
    std::memcpy(b, args[1] + i * steps[1], sizeof b);
    a[0] += b[0], a[1] += b[1];
    std::memcpy(args[2] + i * steps[2], a, sizeof a);
  }
}

template <class T>
Loop add_in_vectors(DType t) {
  static const Loop loop = arithmetic_loop("add", t, {add_loop_of<T>});
  return loop;
}

Loop add_loop(DType t) {
  switch (t) {
    case DType::b1: return {add_loop_of<bool>};
    case DType::i8: case DType::u8: return {add_loop_of<uint8_t>};
    case DType::i16: case DType::u16: return {add_loop_of<uint16_t>};
    case DType::i32: case DType::u32: return {add_loop_of<uint32_t>};
    case DType::i64: case DType::u64: return {add_loop_of<uint64_t>};
    case DType::f16: return {add_loop_of<_Float16>};
    case DType::bf16: return {add_loop_of<Bfloat16>};
    case DType::f32: return add_in_vectors<float>(t);
    case DType::f64: return add_in_vectors<double>(t);
    case DType::c64: return {add_pair_of<float>};
    case DType::c128: return {add_pair_of<double>};
  }
  return {};
}

IndexKernel& build_index(Op& op, IndexKernel::Do what, const Array& array, const std::vector<Array>& indices, int axis, const Array& other) {
  IndexKernel& k = op.emplace<IndexKernel>();
  k.what = what;
  k.array = array.layout, k.other = other.layout, k.axis = axis;
  for (size_t i = 0; i < indices.size(); ++i) {
    k.selection.indices.push_back(indices[i].layout);
    k.selection.extents.push_back(array.layout.shape[axis + static_cast<int>(i)]);
    k.selection.strides.push_back(array.layout.strides[axis + static_cast<int>(i)]);
    op.add(indices[i].storage(), Mode::read);
  }
  for (const Array& i : indices)
    if (i.layout.ndim()) k.selection.shape = i.layout.shape;
  k.selection.positions = product(k.selection.shape);
  k.a_access = op.n_access, k.b_access = op.n_access + 1;
  bool gather = what == IndexKernel::Do::gather;
  op.add(array.storage(), gather ? Mode::read : Mode::update);
  op.add(other.storage(), gather ? other.write_mode() : Mode::read);
  k.add = add_loop(array.layout.dtype);
  k.overlaps = !gather && overlap(array.storage(), array.layout, other.storage(), other.layout);
  k.cut();
  op.cost = cost_of(other.layout.nbytes() * 4);
  return k;
}

// One index array, of which each position counts along all other axes, too; an axis of `array` with extent 1 is repeated.
IndexKernel& build_along(Op& op, IndexKernel::Do what, const Array& array, const Array& index, int axis, const Array& other) {
  IndexKernel& k = build_index(op, what, array, {index}, axis, other);
  k.axis = 0;
  k.selection.own = array.layout.strides;
  for (int i = 0; i < array.layout.ndim(); ++i)
    if (i == axis || array.layout.shape[i] == 1) k.selection.own[i] = 0;
  k.cut();
  return k;
}

}  // namespace

void build_gather(Op& op, const Array& from, const std::vector<Array>& indices, int axis, const Array& to, const char* said) {
  build_index(op, IndexKernel::Do::gather, from, indices, axis, to).said = said;
}

void build_scatter(Op& op, const Array& to, const std::vector<Array>& indices, int axis, const Array& values, bool add) {
  build_index(op, add ? IndexKernel::Do::add : IndexKernel::Do::set, to, indices, axis, values);
}

void build_gather_along(Op& op, const Array& from, const Array& index, int axis, const Array& to, const char* said, bool from_end) {
  IndexKernel& k = build_along(op, IndexKernel::Do::gather, from, index, axis, to);
  k.said = said, k.selection.from_end = from_end;
}

void build_scatter_along(Op& op, const Array& to, const Array& index, int axis, const Array& values, bool add) {
  build_along(op, add ? IndexKernel::Do::add : IndexKernel::Do::set, to, index, axis, values);
}

}  // namespace forerun
