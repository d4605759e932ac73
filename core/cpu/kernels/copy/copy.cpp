#include "cpu/kernels/copy/copy.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "array/iteration_space.h"
#include "base/rounding.h"
#include "cpu/kernels/fusible_operands.h"
#include "cpu/kernels/snapshot.h"
#include "cpu/loops/cast.h"
#include "cpu/loops/item.h"
#include "cpu/loops/loop_over.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int64_t kTile = int64_t{1} << 17;  // elements that one worker takes at once

uint32_t cost_of(int64_t bytes) { return static_cast<uint32_t>(std::min<int64_t>(50 + bytes / 16, INT32_MAX)); }

// Copies elements `at` to `at + n` of a nest of two operands.
void copy_space(const IterationSpace& nest, const char* from, char* to, int64_t at, int64_t n, const Loop& loop) {
  const Dims* strides[] = {&nest.strides[0], &nest.strides[1]};
  char* args[] = {const_cast<char*>(from), to};
  loop_over(loop, 2, nest.shape, strides, args, nullptr, at, n);
}

class CopyKernel final : public Fusible {
 public:
  const char* name() const override { return scalar ? "full" : from_type == to_type ? "copy" : "astype"; }
  bool fusible() const override { return !empty && !overlaps; }
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  bool may_share(Op& op, const Storage* in, const Storage* out) const override {
    return may_share_operands(*this, op, in, out);
  }
  bool fusible_operands(FusibleOperands& p) const override {
    p.loop = cast_loop(from_type, to_type), p.n_in = 1, p.n = 2, p.elements = elements_;
    auto walked = [&](int k, DType type) {
      return is_dense(nest, k, static_cast<int64_t>(item_size(type))) ? nullptr : &nest;
    };
    p.operand[0] = {scalar ? -1 : 0,
                    scalar ? &*scalar : nullptr,
                    from_offset,
                    from_type,
                    from_type,
                    scalar ? nullptr : walked(0, from_type),
                    0};
    p.operand[1] = {scalar ? 0 : 1, nullptr, to_offset, to_type, to_type, walked(1, to_type), 1};
    return true;
  }
  bool describe(Op&, OpSpec& spec) const override {
    spec.kind = scalar ? "fill" : "copy";
    if (scalar)
      spec.scalar(from_type, scalar->bytes);
    else
      spec.input(0, strided(from_type, nest.shape, nest.strides[0], from_offset));
    spec.output(scalar ? 0 : 1, strided(to_type, nest.shape, nest.strides[1], to_offset));
    return true;
  }
  bool describe_briefly(BriefSpec& brief) const override {
    brief.put(scalar ? "fill" : "copy"), brief.put(from_type, to_type), brief.put(nest.shape);
    brief.put(nest.strides[1]), brief.put(to_offset);
    if (scalar)
      brief.scalar(from_type, scalar->bytes);
    else
      brief.put(nest.strides[0]), brief.put(from_offset);
    return true;
  }
  void run(Op& op, int64_t tile) override {
    if (empty) return;
    const char* from = scalar ? reinterpret_cast<const char*>(scalar->bytes) : operand_data(op, 0, from_offset);
    char* to = operand_data(op, scalar ? 0 : 1, to_offset);
    if (from == to && !overlaps) return;  // it has taken over the memory of its source (BufferReuse)
    if (overlaps) {
      Snapshot snapshot;
      IterationSpace own = nest;
      from = snapshot.take(from, from_type, own.shape, own.strides[0]);
      return copy_space(own, from, to, 0, elements_, cast_loop(from_type, to_type));
    }
    int64_t first = tile * per_tile;
    copy_space(nest, from, to, first, std::min(elements_ - first, per_tile), cast_loop(from_type, to_type));
  }

  IterationSpace nest;
  DType from_type, to_type;
  int64_t from_offset = 0, to_offset = 0;
  std::optional<Scalar> scalar;
  bool overlaps = false, empty = false;
  int64_t elements_ = 0, per_tile = 0, tiles_ = 1;  // a tile has whole rows, or a part of the only one

  void prepare(const Dims& shape, const Dims& from, const Dims& to) {
    const Dims* strides[] = {&from, &to};
    nest = make_iteration_space(shape, strides, 2);
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
  overlaps ? add_loosely(op, from, Mode::read) : add(op, from, Mode::read);
  add(op, to, from.storage() == to.storage() ? Mode::update : to.write_mode());
  op.cost = cost_of(to.layout.nbytes());
  CopyKernel& k = op.emplace<CopyKernel>();
  k.from_type = from.layout.dtype, k.to_type = to.layout.dtype;
  k.from_offset = seen.offset, k.to_offset = to.layout.offset;
  k.overlaps = overlaps;
  k.prepare(to.layout.shape, seen.strides, to.layout.strides);
}

void copy_elements(const Layout& from, const char* values, const Layout& to, char* room) {
  char* args[] = {const_cast<char*>(values), room};
  if (from.size == to.size && from.contiguous() && to.contiguous()) {
    if (from.dtype == to.dtype) return void(std::memmove(room, values, static_cast<size_t>(to.nbytes())));
    const intptr_t n = to.size,
                   steps[] = {static_cast<intptr_t>(item_size(from.dtype)), static_cast<intptr_t>(item_size(to.dtype))};
    const Loop loop = cast_loop(from.dtype, to.dtype);
    return loop.function(args, &n, steps, loop.data);
  }
  const Layout seen = broadcast_to("assign", from, to.shape);
  const Dims* strides[] = {&seen.strides, &to.strides};
  loop_over_all(cast_loop(from.dtype, to.dtype), 2, to.shape, strides, args);
}

void build_fill(Op& op, const Scalar& scalar, const Array& to) {
  add(op, to, to.write_mode());
  op.cost = cost_of(to.layout.nbytes());
  CopyKernel& k = op.emplace<CopyKernel>();
  k.from_type = k.to_type = to.layout.dtype;
  k.to_offset = to.layout.offset;
  k.scalar = scalar;
  k.prepare(to.layout.shape, Dims(to.layout.ndim()), to.layout.strides);
}

namespace {

// The distance between consecutive elements that axes first, ..., last - 1 select in C order; null if it is not
// constant.
std::optional<int64_t> even_step(const Layout& a, int first, int last) {
  std::optional<int64_t> step;
  for (int64_t axis = last - 1, next = 0; axis >= first; --axis) {
    const int64_t own = a.strides[axis];
    if (a.shape[axis] == 1) continue;
    if (!step)
      step = own;
    else if (own != next)
      return std::nullopt;
    next = own * a.shape[axis];
  }
  return step.value_or(0);
}

// The pieces that form the rows of a concatenation. Null if an array does not consist of dense rows that are a pitch
// apart, or if there are too many for a group.
std::vector<Piece> pieces_of(const std::vector<Layout>& arrays, int axis) {
  std::vector<Piece> pieces;
  if (arrays.size() >= IterationSpace::kMaxOperands) return pieces;
  for (const Layout& a : arrays) {
    const auto size = static_cast<int64_t>(item_size(a.dtype));
    int64_t length = 1;
    for (int k = axis; k < a.ndim(); ++k) length *= a.shape[k];
    const std::optional<int64_t> step = even_step(a, axis, a.ndim()), pitch = even_step(a, 0, axis);
    if (a.size == 0 || !step || !pitch || (length > 1 && *step != size)) return {};
    pieces.push_back({length * size, *pitch});
  }
  return pieces;
}

class ConcatenateKernel final : public Fusible {
 public:
  const char* name() const override { return "concatenate"; }
  bool fusible() const override { return !pieces.empty(); }
  bool fusible_operands(FusibleOperands& p) const override {
    p.pieces = &pieces, p.n_in = static_cast<int>(from.size()), p.n = p.n_in + 1;
    for (int i = 0; i < p.n; ++i) {
      const Layout& a = i < p.n_in ? from[i] : to[0];
      p.operand[i] = {i, nullptr, a.offset, a.dtype, a.dtype, nullptr, 0};
      p.elements += i < p.n_in ? a.size : 0;
    }
    return true;
  }
  int64_t tiles() const override { return static_cast<int64_t>(ends.size()); }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override {
    for (size_t i = tile > 0 ? ends[tile - 1] : 0; i < ends[tile]; ++i) copy_one(op, i);
  }
  bool describe(Op&, OpSpec& spec) const override {
    Layout all = to[0];
    all.shape[axis] = 0;
    for (size_t i = 0; i < from.size(); ++i)
      spec.input(static_cast<int>(i), from[i]), all.shape[axis] += from[i].shape[axis];
    spec.kind = "concatenate", spec.name = name();
    spec.output(static_cast<int>(from.size()), strided(all.dtype, all.shape, all.strides, all.offset));
    spec.set("axis", int64_t{axis});
    return true;
  }
  bool describe_briefly(BriefSpec& brief) const override {
    brief.put("concatenate"), brief.put(axis), brief.put(to[0]);
    for (const Layout& each : from) brief.put(each);
    return true;
  }
  // When all arrays have been added: small ones are copied together.
  void cut() {
    int64_t elements = 0;
    for (size_t i = 0; i < from.size(); ++i)
      if ((elements += from[i].size) >= kTile / 8 || i + 1 == from.size()) ends.push_back(i + 1), elements = 0;
  }
  std::vector<Layout> from, to;
  std::vector<size_t> ends;   // of the tiles, by number of the array
  std::vector<Piece> pieces;  // within a group; null: it cannot be in one
  int axis = 0;

 private:
  void copy_one(Op& op, size_t i) {
    const Layout &f = from[i], &t = to[i];
    if (f.size == 0) return;
    const Dims* strides[] = {&f.strides, &t.strides};
    IterationSpace nest = make_iteration_space(f.shape, strides, 2);
    copy_space(nest, operand_data(op, static_cast<int>(i), f.offset),
               operand_data(op, static_cast<int>(from.size()), t.offset), 0, f.size, cast_loop(t.dtype, t.dtype));
  }
};

}  // namespace

void build_concatenate(Op& op, const std::vector<Array>& arrays, int axis, const Array& to) {
  ConcatenateKernel& k = op.emplace<ConcatenateKernel>();
  k.axis = axis;
  int64_t at = 0;
  for (const Array& a : arrays) {
    add(op, a, Mode::read);
    k.from.push_back(a.layout);
    Layout part = a.layout;
    part.strides = to.layout.strides;
    part.offset = to.layout.offset + at * to.layout.strides[axis];
    at += a.layout.shape[axis];
    k.to.push_back(part);
  }
  k.cut();
  if (to.layout.contiguous()) k.pieces = pieces_of(k.from, axis);
  op.add(to.storage(), to.write_mode());
  op.cost = cost_of(to.layout.nbytes());
}

}  // namespace forerun
