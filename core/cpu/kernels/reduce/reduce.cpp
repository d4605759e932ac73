#include "cpu/kernels/reduce/reduce.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/rounding.h"
#include "cpu/kernels/fusible_operands.h"
#include "cpu/kernels/reduce/blocked_reduction.h"
#include "cpu/kernels/scratch.h"
#include "cpu/loops/cast.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int64_t kFullBlock = int64_t{1} << 16;  // a full reduction is cut into blocks of this many elements
constexpr int64_t kChunk = 1024;                  // elements cast at once

uint32_t cost_of(int64_t elements) { return static_cast<uint32_t>(std::min<int64_t>(60 + elements / 4, INT32_MAX)); }

// Visits all positions of some axes; `f(offset_a, offset_b)`.
template <class F>
void for_each_pair(const Dims& shape, const Dims& a, const Dims& b, int64_t first, int64_t last, F f) {
  for (int64_t r = first; r < last; ++r) {
    int64_t rest = r, at_a = 0, at_b = 0;
    for (int i = shape.size() - 1; i >= 0; --i) {
      int64_t k = rest % shape[i];
      rest /= shape[i];
      at_a += k * a[i], at_b += k * b[i];
    }
    f(at_a, at_b);
  }
}

class Folder {
 public:
  Loop loop;
  DType from, to;

  // out[j] = loop(out[j], in[j]) for j < n; with out_step 0 all are folded into one.
  void fold(char* out, intptr_t out_step, const char* in, intptr_t in_step, int64_t n) const {
    if (from == to) return apply(out, out_step, in, in_step, n);
    alignas(64) char scratch[kChunk * 16];
    intptr_t size = static_cast<intptr_t>(item_size(to));
    Loop c = cast_loop(from, to);
    for (int64_t done = 0; done < n; done += kChunk) {
      intptr_t count = std::min(kChunk, n - done), steps[2] = {in_step, size};
      char* args[2] = {const_cast<char*>(in) + done * in_step, scratch};
      c.function(args, &count, steps, c.data);
      apply(out + done * out_step, out_step, scratch, size, count);
    }
  }
  void first(char* out, const char* in) const {
    if (from == to) {
      std::memcpy(out, in, item_size(to));
      return;
    }
    char* args[2] = {const_cast<char*>(in), out};
    intptr_t one = 1, steps[2] = {0, 0};
    Loop c = cast_loop(from, to);
    c.function(args, &one, steps, c.data);
  }

 private:
  void apply(char* out, intptr_t out_step, const char* in, intptr_t in_step, int64_t n) const {
    char* args[3] = {out, const_cast<char*>(in), out};
    intptr_t count = n, steps[3] = {out_step, in_step, out_step};
    loop.function(args, &count, steps, loop.data);
  }
};

// Describes a reduction (device/op_spec.h): its op reads access 0, and writes access 1.
bool describe_reduction(OpSpec& spec, const char* ufunc, const Layout& in, std::vector<int64_t> axes,
                        const Layout& out) {
  spec.kind = "reduce", spec.name = ufunc;
  spec.input(0, in), spec.output(1, out);
  spec.set("axes", std::move(axes));
  spec.set("accumulate", std::string(name(out.dtype)));
  return true;
}

struct Partial {
  std::vector<char> values;
  std::atomic<int64_t> left;
};

class ReduceKernel final : public Kernel {
 public:
  const char* name() const override { return name_; }
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  bool droppable() const override { return true; }
  void prepare(Op&) override {
    if (blocks == 0) return;
    partial = std::make_shared<Partial>();
    partial->values.resize(static_cast<size_t>(blocks) * item_size(folder.to));
    partial->left.store(blocks);
  }
  void run(Op& op, int64_t tile) override {
    const char* in = operand_data(op, 0, in_offset);
    char* out = operand_data(op, 1, out_offset);
    if (blocks > 0) return run_block(in, out, tile);
    int64_t rows = product(kept), last = std::min(rows, (tile + 1) * per_tile);
    for_each_pair(kept, kept_in, kept_out, tile * per_tile, last,
                  [&](int64_t i, int64_t o) { reduce_one(in + i, out + o); });
  }
  bool describe(Op&, OpSpec& spec) const override {
    Dims shape = kept, in_strides = kept_in, out_shape = kept, out_strides = kept_out;
    std::vector<int64_t> axes;
    auto add = [&](int64_t extent, int64_t step) { shape.push_back(extent), in_strides.push_back(step); };
    for (int i = 0; i < reduced.size(); ++i) axes.push_back(shape.size()), add(reduced[i], reduced_in[i]);
    if (out_step == 0)
      axes.push_back(shape.size());
    else
      out_shape.push_back(inner), out_strides.push_back(out_step);
    add(inner, in_step);
    return describe_reduction(spec, ufunc_, strided(folder.from, shape, in_strides, in_offset), std::move(axes),
                              strided(folder.to, out_shape, out_strides, out_offset));
  }
  bool describe_briefly(BriefSpec& brief) const override {
    brief.put("reduce"), brief.put(ufunc_), brief.put(name_), brief.put(folder.from, folder.to);
    for (const Dims* dims : {&kept, &kept_in, &kept_out, &reduced, &reduced_in}) brief.put(*dims);
    for (const int64_t each : {in_offset, out_offset, inner, int64_t{in_step}, int64_t{out_step}}) brief.put(each);
    return true;
  }

  const char *ufunc_, *name_;
  Folder folder;
  bool has_identity = false;
  Scalar identity{};
  int64_t in_offset = 0, out_offset = 0;
  Dims kept, kept_in, kept_out;  // outer kept axes
  Dims reduced, reduced_in;      // reduced axes, without the innermost one if it is the inner loop
  int64_t inner = 1;             // the inner loop: a kept axis (out_step != 0) or a reduced one (out_step == 0)
  intptr_t in_step = 0, out_step = 0;
  int64_t per_tile = 1, tiles_ = 1;
  int64_t blocks = 0;  // of a full reduction of dense memory
  std::shared_ptr<Partial> partial;

 private:
  // One kept position of the outer axes; with a kept inner axis a whole row of them.
  void reduce_one(const char* in, char* out) {
    intptr_t size = static_cast<intptr_t>(item_size(folder.to));
    int64_t count = product(reduced);
    bool rowwise = out_step != 0;
    bool skip_first = !has_identity;
    for (int64_t j = 0; has_identity && j < (rowwise ? inner : 1); ++j)
      std::memcpy(out + j * out_step, identity.bytes, size);
    for_each_pair(reduced, reduced_in, reduced_in, 0, count, [&](int64_t i, int64_t) {
      const char* p = in + i;
      int64_t n = inner;
      if (skip_first) {
        skip_first = false;
        for (int64_t j = 0; j < (rowwise ? inner : 1); ++j) folder.first(out + j * out_step, p + j * in_step);
        if (rowwise) return;
        p += in_step, n -= 1;
      }
      folder.fold(out, out_step, p, in_step, n);
    });
  }

  void run_block(const char* in, char* out, int64_t tile) {
    size_t size = item_size(folder.to);
    char* mine = partial->values.data() + tile * static_cast<int64_t>(size);
    int64_t from = tile * kFullBlock, n = std::min(kFullBlock, inner - from);
    const char* p = in + from * in_step;
    if (has_identity)
      std::memcpy(mine, identity.bytes, size);
    else
      folder.first(mine, p), p += in_step, --n;
    folder.fold(mine, 0, p, in_step, n);
    if (partial->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    // The last block to end combines all blocks in order: the same bits whichever thread ran a block.
    Folder combine{folder.loop, folder.to, folder.to};
    std::memcpy(out, partial->values.data(), size);
    combine.fold(out, 0, partial->values.data() + size, static_cast<intptr_t>(size), blocks - 1);
  }
};

// A reduction of dense values, where the reduced axes are consecutive.
class BlockedReductionKernel final : public Fusible {
 public:
  BlockedReductionKernel(const char* ufunc, const char* name, const BlockedReduction& fold, DType from,
                         int64_t in_offset, int64_t out_offset)
      : ufunc_(ufunc), name_(name), reduction_(fold), from_(from), in_offset_(in_offset), out_offset_(out_offset) {}
  const char* name() const override { return name_; }
  int64_t tiles() const override { return reduction_.tiles(); }
  bool copy_to(Op& op) const override {
    return op.emplace<BlockedReductionKernel>(ufunc_, name_, reduction_, from_, in_offset_, out_offset_), true;
  }
  void prepare(Op&) override { partial_ = reduction_.partial(); }
  bool describe(Op&, OpSpec& spec) const override {
    const int64_t a = reduction_.rows(), r = reduction_.row_length(), c = reduction_.elements() / (a * r);
    Layout in = Layout::dense(from_, {a, r, c}), out = Layout::dense(reduction_.dtype(), {a, c});
    in.offset = in_offset_, out.offset = out_offset_;
    return describe_reduction(spec, ufunc_, in, {1}, out);
  }
  bool describe_briefly(BriefSpec& brief) const override {
    brief.put("reduce, blocked"), brief.put(ufunc_), brief.put(name_), brief.put(from_, reduction_.dtype());
    for (const int64_t each :
         {reduction_.rows(), reduction_.row_length(), reduction_.elements(), in_offset_, out_offset_})
      brief.put(each);
    return true;
  }
  bool fusible_operands(FusibleOperands& p) const override {
    p.n_in = 1, p.n = 2, p.elements = reduction_.elements(), p.fold = &reduction_;
    p.operand[0] = {0, nullptr, in_offset_, from_, reduction_.dtype(), nullptr, 0};
    p.operand[1] = {1, nullptr, out_offset_, reduction_.dtype(), reduction_.dtype(), nullptr, 0};
    return true;
  }
  void run(Op& op, int64_t tile) override {
    const char* in = operand_data(op, 0, in_offset_);
    char* out = operand_data(op, 1, out_offset_);
    intptr_t steps[2] = {static_cast<intptr_t>(item_size(from_)), static_cast<intptr_t>(item_size(reduction_.dtype()))};
    Loop cast = cast_loop(from_, reduction_.dtype());
    reduction_.begin(tile, out, partial_.get());
    Range range = reduction_.range(tile);
    if (from_ == reduction_.dtype() && reduction_.cuts_runs()) range.block = std::max<int64_t>(1, range.length);
    each_block(range, [&](int64_t at, int64_t n) {
      const char* data = in + at * steps[0];
      if (from_ != reduction_.dtype()) {
        intptr_t count = n;
        char* args[2] = {const_cast<char*>(data), scratch(static_cast<size_t>(n * steps[1]))};
        cast.function(args, &count, steps, cast.data);
        data = args[1];
      }
      reduction_.fold(tile, at, n, data, out, partial_.get());
    });
    reduction_.end(out, partial_.get());
  }

 private:
  const char *ufunc_, *name_;
  BlockedReduction reduction_;
  DType from_;
  int64_t in_offset_, out_offset_;
  std::unique_ptr<BlockedReduction::Partial> partial_;
};

// in[a, r, c] if the reduced axes of a dense array are consecutive.
bool one_stretch(const Layout& in, const bool* is_reduced, int64_t* a, int64_t* r, int64_t* c) {
  if (!in.contiguous() || in.size == 0) return false;
  *a = *r = *c = 1;
  for (int i = 0; i < in.ndim(); ++i) {
    if (in.shape[i] == 1) continue;
    if (is_reduced[i] && *c > 1) return false;
    if (is_reduced[i])
      *r *= in.shape[i];
    else
      (*r > 1 ? *c : *a) *= in.shape[i];
  }
  return true;
}

int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

}  // namespace

void build_reduce(Op& op, const Combination& how, const Array& in, const bool* is_reduced, const Scalar* identity,
                  const Scalar* neutral, const Array& out) {
  add(op, in, Mode::read);
  op.add(out.storage(), out.write_mode());
  op.cost = cost_of(in.layout.size + out.layout.size);
  if (int64_t a, r, c; neutral && one_stretch(in.layout, is_reduced, &a, &r, &c)) {
    op.emplace<BlockedReductionKernel>(how.ufunc, how.name,
                                       BlockedReduction(how.loop, out.layout.dtype, *neutral, a, r, c), in.layout.dtype,
                                       in.layout.offset, out.layout.offset);
    return;
  }
  ReduceKernel& k = op.emplace<ReduceKernel>();
  k.ufunc_ = how.ufunc, k.name_ = how.name;
  k.folder = Folder{how.loop, in.layout.dtype, out.layout.dtype};
  k.has_identity = identity != nullptr;
  if (identity) k.identity = *identity;
  k.in_offset = in.layout.offset, k.out_offset = out.layout.offset;
  struct Axis {
    int64_t extent, in, out;
    bool reduced;
  };
  std::vector<Axis> axes;
  for (int i = 0, o = 0; i < in.layout.ndim(); ++i) {
    Axis axis{in.layout.shape[i], in.layout.strides[i], is_reduced[i] ? 0 : out.layout.strides[o], is_reduced[i]};
    if (!is_reduced[i]) ++o;
    if (axis.extent == 1) continue;
    // Neighbouring axes of one kind are merged if their memory is regular.
    if (!axes.empty() && axes.back().reduced == axis.reduced && axes.back().in == axis.in * axis.extent &&
        axes.back().out == axis.out * axis.extent)
      axes.back() = {axes.back().extent * axis.extent, axis.in, axis.out, axis.reduced};
    else
      axes.push_back(axis);
  }
  // The inner loop runs along the axis with the smallest stride.
  int best = -1;
  for (int i = 0; i < static_cast<int>(axes.size()); ++i)
    if (best < 0 || magnitude(axes[i].in) <= magnitude(axes[best].in)) best = i;
  if (best >= 0) {
    k.inner = axes[best].extent, k.in_step = axes[best].in, k.out_step = axes[best].out;
    if (!axes[best].reduced && k.out_step == 0) k.out_step = static_cast<intptr_t>(item_size(out.layout.dtype));
    bool full = axes.size() == 1 && axes[0].reduced && k.inner > kFullBlock;
    if (full) {
      k.blocks = k.tiles_ = ceil_div(k.inner, kFullBlock);
      return;
    }
    axes.erase(axes.begin() + best);
  }
  for (const Axis& axis : axes) {
    if (axis.reduced) {
      k.reduced.push_back(axis.extent), k.reduced_in.push_back(axis.in);
    } else {
      k.kept.push_back(axis.extent), k.kept_in.push_back(axis.in), k.kept_out.push_back(axis.out);
    }
  }
  int64_t rows = product(k.kept), work = std::max<int64_t>(1, product(k.reduced) * k.inner);
  k.per_tile = std::max<int64_t>(1, kTileElements / work);
  k.tiles_ = std::max<int64_t>(1, ceil_div(rows, k.per_tile));
}

namespace {

class ScanKernel final : public Kernel, public AxisLines {
 public:
  const char* name() const override { return name_; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override {
    const char* in = operand_data(op, 0, in_offset);
    char* out = operand_data(op, 1, out_offset);
    int64_t rows = product(outer);
    if (n == 0) return;
    for_each_pair(outer, outer_in, outer_out, tile * per_tile, std::min(rows, (tile + 1) * per_tile),
                  [&](int64_t i, int64_t o) {
                    char* cast_args[2] = {const_cast<char*>(in) + i, out + o};
                    intptr_t count = n, cast_steps[2] = {in_step, out_step};
                    to_loop_dtype.function(cast_args, &count, cast_steps, to_loop_dtype.data);
                    char* args[3] = {out + o, out + o + out_step, out + o + out_step};
                    intptr_t rest = n - 1, steps[3] = {out_step, out_step, out_step};
                    if (rest > 0) loop.function(args, &rest, steps, loop.data);
                  });
  }
  bool describe(Op&, OpSpec& spec) const override {
    auto lines = [&](DType t, Dims strides, int64_t step, int64_t offset) {
      Dims shape = outer;
      shape.push_back(n), strides.push_back(step);
      return strided(t, shape, strides, offset);
    };
    spec.kind = "scan", spec.name = ufunc_;
    spec.input(0, lines(from, outer_in, in_step, in_offset));
    spec.output(1, lines(to, outer_out, out_step, out_offset));
    spec.set("axis", int64_t{outer.size()});
    spec.set("accumulate", std::string(forerun::name(to)));
    return true;
  }
  bool describe_briefly(BriefSpec& brief) const override {
    brief.put("scan"), brief.put(ufunc_), brief.put(name_), brief.put(from, to), brief.put(outer);
    brief.put(outer_in), brief.put(outer_out);
    for (const int64_t each : {n, in_offset, out_offset, int64_t{in_step}, int64_t{out_step}}) brief.put(each);
    return true;
  }

  const char *ufunc_, *name_;
  DType from, to;
  Loop loop, to_loop_dtype;
  int64_t in_offset = 0, out_offset = 0, per_tile = 1, tiles_ = 1;
};

}  // namespace

void AxisLines::set(const Layout& in, const Layout& out, int axis) {
  for (int i = 0; i < in.ndim(); ++i) {
    if (i == axis) {
      n = in.shape[i], in_step = in.strides[i], out_step = out.strides[i];
    } else {
      outer.push_back(in.shape[i]), outer_in.push_back(in.strides[i]), outer_out.push_back(out.strides[i]);
    }
  }
}

void build_scan(Op& op, const Combination& how, const Array& in, int axis, const Array& out) {
  add(op, in, Mode::read);
  op.add(out.storage(), out.write_mode());
  op.cost = cost_of(4 * in.layout.size);  // one element after the other
  ScanKernel& k = op.emplace<ScanKernel>();
  k.ufunc_ = how.ufunc, k.name_ = how.name, k.loop = how.loop;
  k.from = in.layout.dtype, k.to = out.layout.dtype;
  k.to_loop_dtype = cast_loop(in.layout.dtype, out.layout.dtype);
  k.in_offset = in.layout.offset, k.out_offset = out.layout.offset;
  k.set(in.layout, out.layout, axis);
  int64_t rows = product(k.outer);
  k.per_tile = std::max<int64_t>(1, kTileElements / std::max<int64_t>(1, k.n));
  k.tiles_ = std::max<int64_t>(1, ceil_div(rows, k.per_tile));
}

}  // namespace forerun
