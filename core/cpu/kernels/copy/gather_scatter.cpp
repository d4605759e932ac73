// Elements read and written by position: gather, scatter, and ufuncs that are applied at positions.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "cpu/kernels/copy/gather_scatter.h"
#include "cpu/kernels/copy/selection.h"
#include "cpu/kernels/snapshot.h"
#include "cpu/loops/cast.h"
#include "cpu/loops/item.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int64_t kTile = int64_t{1} << 17;    // elements that one worker writes at once
constexpr int64_t kPicked = int64_t{1} << 15;  // and reads at once
constexpr int64_t kChunk = 512;                // positions that are converted at once
constexpr int64_t kLeastRow = 64;              // positions next to each other, at least, where rows are cut

uint32_t cost_of(int64_t bytes) { return static_cast<uint32_t>(std::min<int64_t>(50 + bytes / 16, INT32_MAX)); }

class IndexKernel final : public Kernel {
 public:
  enum class Do { gather, set, combine };
  const char* name() const override { return what == Do::gather ? "take" : what == Do::set ? "put" : combine.name; }
  // A gather is cut by units: one position of the index and of the axes before it. A scatter is cut along the last
  // axis, as positions may occur more than once.
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void prepare(Op& op) override {
    const bool by_tile = what == Do::gather && other.size > 0;  // then each tile checks its positions
    if (is_direct(op)) {
      at_ = selection.plain_positions(op);
      if (!by_tile) selection.check(at_, title());
    } else if (by_tile && !repeats()) {
      selection.check_numbers(op, title());
    } else {
      offsets_ = selection.offsets(op, title());
    }
  }
  void run(Op& op, int64_t tile) override;
  bool describe(Op&, OpSpec& spec) const override;
  bool describe_briefly(BriefSpec& brief) const override;

  Do what;
  Selection selection;
  Layout array, other;                                            // the indexed array, and the other one
  int axis = 0, axes = 0, along = 0, a_access = 0, b_access = 0;  // along: the axis of one index array for all axes
  int64_t cycle = 0;              // number of values, which repeat from the first one; 0: one for each position
  const char* op_name = nullptr;  // the name in errors, if it is part of another operation
  Combine combine;
  bool overlaps = false;  // an operand overlaps the array that is written

  void cut();

  IndexKernel() = default;
  IndexKernel(const IndexKernel& o)
      : Kernel(o), what(o.what), selection(o.selection), array(o.array), other(o.other), axis(o.axis), axes(o.axes),
        along(o.along), a_access(o.a_access), b_access(o.b_access), cycle(o.cycle), op_name(o.op_name),
        combine(o.combine), overlaps(o.overlaps), per_tile_(o.per_tile_), tiles_(o.tiles_) {}

 private:
  const char* title() const { return op_name ? op_name : what == Do::gather ? "take" : "put"; }
  // Whether elements and values are combined in one dtype.
  bool combines_in_one_dtype() const {
    return combine.n_in == 2 &&
           std::all_of(combine.types, combine.types + 3, [&](DType t) { return t == combine.types[0]; });
  }
  std::string out_of_range_text() const;
  std::unique_ptr<int64_t[]> offsets_;  // of the positions
  const int64_t* at_ = nullptr;         // the positions themselves, where no offsets are needed
  int64_t per_tile_ = 1, tiles_ = 1;    // units of a gather, or elements of the last axis of a scatter

  // Whether a gather uses its few positions more than once: then their offsets are computed before. Otherwise each tile
  // computes those of its own.
  bool repeats() const { return axis > 0 && selection.own.empty() && selection.positions <= kPicked; }

  // Whether elements of a vector are copied or combined, and their positions are not written meanwhile.
  bool is_direct(Op& op) const {
    bool apart = what == Do::gather || op.access(selection.first_access).storage != op.access(a_access).storage;
    return (what != Do::combine || combine.each) && apart && array.ndim() == 1 && selection.plain() &&
           (other.ndim() == 1 || other.contiguous());
  }
  void compute(Op& op, char* a, char* b, const Dims& strides, int64_t tile);
  void run_direct(char* a, char* b, const Dims& strides, int64_t tile) const;
  void singles(char* a, const int64_t* offsets, char* b, int64_t step, int64_t n, size_t bytes) const;
  void combine_one(char* a, char* b) const;
  void block(char* a, const Dims& a_strides, char* b, const Dims& b_strides, const Rows& rows) const;
};

void IndexKernel::cut() {
  int64_t units = selection.positions;
  for (int i = 0; i < axis; ++i) units *= array.shape[i];
  if (what == Do::gather) {
    int64_t block = units > 0 ? std::max<int64_t>(1, other.size / units) : 1;
    per_tile_ = std::max<int64_t>(1, kPicked / block);
    tiles_ = std::max<int64_t>(1, ceil_div(units, per_tile_));
    return;
  }
  const bool rows = selection.own.empty() && selection.flat.empty() &&
                    array.ndim() > axis + axes;  // whether there is an axis that is not indexed
  const int64_t n = rows ? std::max<int64_t>(1, array.shape.back()) : 1;
  const int64_t pieces = overlaps ? 1 : std::clamp<int64_t>(other.size / kTile, 1, ceil_div(n, kLeastRow));
  per_tile_ = round_up(ceil_div(n, pieces), kLeastRow);
  tiles_ = ceil_div(n, per_tile_);
}

// The error's text about all indices, for devices: only their values tell which of them is wrong.
std::string IndexKernel::out_of_range_text() const {
  std::string text = std::string(title()) + (selection.extents.size() > 1 ? ": indices" : ": index") + " must be in ";
  for (size_t k = 0; k < selection.extents.size(); ++k) {
    const int64_t n = selection.extents[k];
    text += (k ? " and [" : "[") + std::to_string(selection.from_end ? -n : 0) + ", " + std::to_string(n) + ")";
  }
  return text + ", got one that is not";
}

bool IndexKernel::describe(Op&, OpSpec& spec) const {
  const bool gathers = what == Do::gather, puts = !selection.flat.empty(), each = !selection.own.empty();
  if (what == Do::combine && !combines_in_one_dtype()) return false;
  spec.kind = gathers            ? each ? "gather_along" : "gather"
              : selection.masked ? "place"
              : puts             ? "put"
              : each             ? "scatter_along"
                                 : "scatter";
  spec.name = selection.masked ? "each" : name();
  if (gathers) spec.input(a_access, array);
  for (size_t k = 0; k < selection.indices.size(); ++k)
    spec.input(selection.first_access + static_cast<int>(k), selection.indices[k]);
  if (!gathers) spec.input(b_access, other);
  gathers ? spec.output(b_access, other) : spec.output(a_access, array);
  if (!puts) spec.set("axis", int64_t{each ? along : axis});
  if (what == Do::combine)
    spec.set("combine", std::string(combine.ufunc)), spec.set("computed", std::string(forerun::name(combine.types[0])));
  if (selection.masked) {
    spec.check(ErrorKind::value, std::string(title()) +
                                     ": there must be a value for each element under the mask, got " +
                                     std::to_string(selection.positions) + " for others");
    return true;
  }
  if (each) spec.set("from_end", selection.from_end);
  if (!each && !puts) spec.set("n_indices", static_cast<int64_t>(selection.indices.size()));
  spec.check(ErrorKind::index, out_of_range_text());
  return true;
}

bool IndexKernel::describe_briefly(BriefSpec& brief) const {
  const Selection& s = selection;
  brief.put("index"), brief.put(op_name), brief.put(what, s.masked), brief.put(s.own.empty(), s.flat.empty());
  brief.put(axis, along), brief.put(a_access, b_access), brief.put(s.first_access, s.from_end), brief.put(s.positions);
  if (what == Do::combine) {
    brief.put(combine.name), brief.put(combine.ufunc), brief.put(combine.n_in);
    brief.put(combine.types[0], combine.types[1]), brief.put(combine.types[2]);
  }
  brief.put(s.extents.size());
  for (const int64_t extent : s.extents) brief.put(extent);
  brief.put(array), brief.put(other);
  for (const Layout& index : s.indices) brief.put(index);
  return true;
}

void IndexKernel::run(Op& op, int64_t tile) {
  if (other.size == 0) return;
  char* a = operand_data(op, a_access, array.offset);
  char* b = operand_data(op, b_access, other.offset);
  if (!overlaps) return compute(op, a, b, other.strides, tile);
  Snapshot snapshot;
  Dims strides = other.strides;
  b = snapshot.take(b, other.dtype, other.shape, strides);
  compute(op, a, b, strides, tile);
}

// b: with elements of `strides`, which are those of `other`, or of a copy.
void IndexKernel::compute(Op& op, char* a, char* b, const Dims& strides, int64_t tile) {
  if (at_) return run_direct(a, b, strides, tile);
  if (!selection.flat.empty())
    return singles(a, offsets_.get(), b, strides[0], selection.positions, item_size(array.dtype));
  const int k = selection.own.empty() ? axes : array.ndim();
  Dims before(other.shape.begin(), axis), after(array.shape.begin() + axis + k, array.ndim() - axis - k);
  const Dims& index_shape = selection.shape;
  const int n_index = index_shape.size();
  Dims middle_b(strides.begin() + axis, n_index), after_b(strides.begin() + axis + n_index, after.size());
  Dims after_a(array.strides.begin() + axis + k, after.size());
  const bool gathers = what == Do::gather;
  const auto item = static_cast<int64_t>(item_size(other.dtype));
  const int64_t whole = product(after) * item;  // bytes of each position
  if (!gathers && tiles_ > 1) {
    int64_t first = tile * per_tile_, last = after.size() - 1;
    a += first * after_a[last], b += first * after_b[last];
    after[last] = std::min(per_tile_, after[last] - first);
  }
  // The values of a line of positions are a constant step apart: of all positions, or of those along the last axis.
  const bool one = std::all_of(middle_b.begin(), middle_b.end(), [](int64_t s) { return s == 0; });
  const bool together = one || n_index == 1 || other.contiguous();
  const int64_t positions = selection.positions, line = together ? positions : index_shape.back(),
                step = one                       ? 0
                       : n_index > 1 && together ? whole  // strides of axes with extent 1 may be anything
                                                 : middle_b.back();
  const Dims lines(index_shape.begin(), std::max(0, n_index - 1)), lines_b(middle_b.begin(), lines.size());
  const bool dense = what != Do::combine && is_dense(after, after_a, item) && is_dense(after, after_b, item);
  const int64_t bytes = after.empty() ? item : dense ? product(after) * item : 0;  // of each position, if in one piece
  const Rows rows{after.empty() ? Dims{1} : after};
  int64_t some[kChunk], unit = gathers ? tile * per_tile_ : 0, end = product(before) * positions;
  if (gathers) end = std::min(end, unit + per_tile_);
  while (unit < end) {
    const int64_t i = unit / positions, p = unit % positions, r = p / line;
    int64_t stop = std::min({positions, p + end - unit, (r + 1) * line});
    if (!offsets_) stop = std::min(stop, p + kChunk);
    if (!offsets_ && !selection.offsets_between(op, p, stop, some)) selection.offsets(op, title());
    const int64_t* at = offsets_ ? offsets_.get() + p : some;
    unit += stop - p;
    char* row_a = a + offset_at(i, before, array.strides);
    char* row_b = b + offset_at(i, before, strides) + (line < positions ? offset_at(r, lines, lines_b) : 0) +
                  (p - r * line) * step;
    if (bytes)
      singles(row_a, at, row_b, step, stop - p, static_cast<size_t>(bytes));
    else
      for (int64_t q = p; q < stop; ++q, row_b += step) block(row_a + *at++, after_a, row_b, after_b, rows);
  }
}

// a at positions, and elements of b a constant step apart.
void IndexKernel::run_direct(char* a, char* b, const Dims& strides, int64_t tile) const {
  const bool gathers = what == Do::gather;
  const int64_t first = gathers ? tile * per_tile_ : 0,
                end = gathers ? std::min(selection.positions, first + per_tile_) : selection.positions;
  const int64_t n = array.size, by = array.strides[0],
                step = other.ndim() == 1 ? strides[0] : static_cast<int64_t>(item_size(other.dtype));
  const int64_t* at = at_;
  if (what == Do::combine) {
    int64_t offsets[kChunk];
    for (int64_t p = 0, some; p < end; p += some) {
      some = std::min(kChunk, end - p);
      add_offsets(offsets, at + p, some, n, by, true);
      combine.each(a, offsets, b + p * step, step, some);
    }
    return;
  }
  auto each = [&](auto element, auto by) {
    for (int64_t p = first, stop; p < end; p = stop) {
      stop = gathers ? std::min(end, p + kChunk) : end;
      if (gathers && !selection.are_within(at + p, stop - p)) selection.check(at, title());
      for (int64_t i = p; i < stop; ++i) {
        char *one = a + (at[i] + (at[i] >> 63 & n)) * by, *value = b + i * step;
        gathers ? std::memcpy(value, one, sizeof element) : std::memcpy(one, value, sizeof element);
      }
    }
  };
  with_item(item_size(array.dtype), [&]<class T>(T element) {
    by == sizeof(T) ? each(element, std::integral_constant<int64_t, sizeof(T)>{}) : each(element, by);
  });
}

// a at offsets, and elements of b a constant step apart: `bytes` of each.
void IndexKernel::singles(char* a, const int64_t* offsets, char* b, int64_t step, int64_t n, size_t bytes) const {
  const bool gathers = what == Do::gather;
  auto each = [&](auto size) {
    for (int64_t p = 0, from = 0; p < n; ++p) {
      char *one = a + offsets[p], *value = b + (gathers ? p : from) * step;
      gathers ? std::memcpy(value, one, size) : std::memcpy(one, value, size);
      from = from + 1 == cycle ? 0 : from + 1;
    }
  };
  if (what == Do::combine) {
    if (combine.each) return combine.each(a, offsets, b, step, n);
    for (int64_t p = 0; p < n; ++p) combine_one(a + offsets[p], b + p * step);
    return;
  }
  with_bytes(bytes, each);
}

void IndexKernel::combine_one(char* a, char* b) const {
  alignas(16) char in[16], out[16];
  const int last = combine.n_in;
  const bool casts_in = combine.types[0] != array.dtype, casts_out = combine.types[last] != array.dtype;
  const intptr_t one = 1, steps[3] = {0, 0, 0};
  auto convert = [&](DType from, DType to, char* x, char* y) {
    char* args[2] = {x, y};
    Loop c = cast_loop(from, to);
    c.function(args, &one, steps, c.data);
  };
  if (casts_in) convert(array.dtype, combine.types[0], a, in);
  char* args[3] = {casts_in ? in : a, b, nullptr};
  args[last] = casts_out ? out : a;
  combine.loop.function(args, &one, steps, combine.loop.data);
  if (casts_out) convert(combine.types[last], array.dtype, out, a);
}

// The axes that are not indexed, at one position.
void IndexKernel::block(char* a, const Dims& a_strides, char* b, const Dims& b_strides, const Rows& rows) const {
  const int64_t n = rows.shape.back();
  const intptr_t sa = a_strides.back(), sb = b_strides.back();
  const bool as_they_are =
      what == Do::combine && combine.n_in == 2 && combine.types[0] == array.dtype && combine.types[2] == array.dtype;
  const Loop copy = cast_loop(array.dtype, array.dtype);
  for (int64_t r = 0, count = rows.count(); r < count; ++r) {
    char *pa = a + rows.at(r, a_strides), *pb = b + rows.at(r, b_strides);
    char* args[3] = {pa, pb, pa};
    intptr_t length = n, steps[3] = {sa, sb, sa};
    if (what == Do::gather)
      copy.function(args, &length, steps, copy.data);
    else if (what == Do::set)
      copy.function(args + 1, &length, steps + 1, copy.data);
    else if (as_they_are)
      combine.loop.function(args, &length, steps, combine.loop.data);
    else
      for (int64_t i = 0; i < n; ++i) combine_one(pa + i * sa, pb + i * sb);
  }
}

IndexKernel& build_index(Op& op, IndexKernel::Do what, const Array& array, const std::vector<Array>& indices, int axis,
                         const Array& other) {
  IndexKernel& k = op.emplace<IndexKernel>();
  k.what = what;
  k.array = array.layout, k.other = other.layout, k.axis = axis, k.axes = static_cast<int>(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    k.selection.indices.push_back(indices[i].layout);
    k.selection.extents.push_back(array.layout.shape[axis + static_cast<int>(i)]);
    k.selection.strides.push_back(array.layout.strides[axis + static_cast<int>(i)]);
    add_loosely(op, indices[i], Mode::read);
  }
  for (const Array& i : indices)
    if (i.layout.ndim()) k.selection.shape = i.layout.shape;
  k.selection.positions = product(k.selection.shape);
  k.a_access = op.n_access, k.b_access = op.n_access + 1;
  bool gather = what == IndexKernel::Do::gather;
  k.overlaps = !gather && overlap(array.storage(), array.layout, other.storage(), other.layout);
  add(op, array, gather ? Mode::read : Mode::update);
  k.overlaps ? add_loosely(op, other, Mode::read) : add(op, other, gather ? other.write_mode() : Mode::read);
  k.cut();
  op.cost = cost_of(other.layout.nbytes() * 4);
  return k;
}

// One index array, whose positions are also those along all other axes; an axis of `array` with extent 1 is repeated.
IndexKernel& build_along(Op& op, IndexKernel::Do what, const Array& array, const Array& index, int axis,
                         const Array& other) {
  IndexKernel& k = build_index(op, what, array, {index}, axis, other);
  k.axis = 0, k.along = axis;
  k.selection.own = array.layout.strides;
  for (int i = 0; i < array.layout.ndim(); ++i)
    if (i == axis || array.layout.shape[i] == 1) k.selection.own[i] = 0;
  k.cut();
  return k;
}

IndexKernel::Do what_of(const Combine* combine) { return combine ? IndexKernel::Do::combine : IndexKernel::Do::set; }

}  // namespace

void build_gather(Op& op, const Array& from, const std::vector<Array>& indices, int axis, const Array& to,
                  const char* op_name) {
  build_index(op, IndexKernel::Do::gather, from, indices, axis, to).op_name = op_name;
}

void build_scatter(Op& op, const Array& to, const std::vector<Array>& indices, int axis, const Array& values,
                   const Combine* combine) {
  IndexKernel& k = build_index(op, what_of(combine), to, indices, axis, values);
  if (combine) k.combine = *combine, k.op_name = combine->name;
}

void build_scatter_masked(Op& op, const Array& to, const Array& mask, int axis, const Array& values,
                          const Combine* combine, const char* op_name) {
  IndexKernel& k = op.emplace<IndexKernel>();
  const int covered = mask.layout.ndim();
  k.what = what_of(combine);
  k.array = to.layout, k.other = values.layout, k.axis = axis, k.axes = covered, k.op_name = op_name;
  if (combine) k.combine = *combine;
  k.selection.masked = true;
  k.selection.indices = {mask.layout};
  k.selection.mask_strides = Dims(to.layout.strides.begin() + axis, covered);
  k.selection.shape = Dims{values.layout.shape[axis]};
  k.selection.positions = values.layout.shape[axis];
  op.add(mask.storage(), Mode::read);
  op.add(to.storage(), Mode::update);
  op.add(values.storage(), Mode::read);
  k.a_access = 1, k.b_access = 2;
  k.overlaps = overlap(to.storage(), to.layout, values.storage(), values.layout);
  k.cut();
  op.cost = cost_of(values.layout.nbytes() * 4 + mask.layout.size);
}

void build_put(Op& op, const Array& to, const Array& index, const Array& values, const char* op_name) {
  IndexKernel& k = op.emplace<IndexKernel>();
  k.what = IndexKernel::Do::set;
  k.array = to.layout, k.other = values.layout, k.axes = 1, k.op_name = op_name;
  k.cycle = values.layout.size;
  k.selection.indices = {index.layout};
  k.selection.extents = {to.layout.size}, k.selection.strides = {static_cast<int64_t>(item_size(to.layout.dtype))};
  k.selection.flat = to.layout.shape, k.selection.flat_strides = to.layout.strides;
  if (to.layout.contiguous())
    k.selection.flat = Dims{to.layout.size}, k.selection.flat_strides = Dims{k.selection.strides[0]};
  k.selection.shape = index.layout.shape, k.selection.positions = index.layout.size;
  op.add(index.storage(), Mode::read);
  op.add(to.storage(), Mode::update);
  op.add(values.storage(), Mode::read);
  k.a_access = 1, k.b_access = 2;
  k.overlaps = overlap(to.storage(), to.layout, values.storage(), values.layout);
  k.cut();
  op.cost = cost_of(index.layout.nbytes() * 4);
}

void build_gather_along(Op& op, const Array& from, const Array& index, int axis, const Array& to, const char* op_name,
                        bool from_end) {
  IndexKernel& k = build_along(op, IndexKernel::Do::gather, from, index, axis, to);
  k.op_name = op_name, k.selection.from_end = from_end;
}

void build_scatter_along(Op& op, const Array& to, const Array& index, int axis, const Array& values,
                         const Combine* combine) {
  IndexKernel& k = build_along(op, what_of(combine), to, index, axis, values);
  if (combine) k.combine = *combine;
}

}  // namespace forerun
