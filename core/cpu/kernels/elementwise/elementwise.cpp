#include "cpu/kernels/elementwise/elementwise.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/rounding.h"
#include "cpu/kernels/fusible_operands.h"
#include "cpu/kernels/snapshot.h"
#include "cpu/kernels/tile_elements.h"
#include "cpu/loops/cast.h"
#include "cpu/loops/limits.h"
#include "cpu/loops/loop_over.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int kMost = IterationSpace::kMaxOperands;

uint32_t cost_of(int64_t elements, int operands, const Loop& loop, const DType* types) {
  // The time of fast loops grows with the number of vectors, which hold more elements if these are short.
  const DType widest =
      *std::max_element(types, types + operands, [](DType a, DType b) { return item_size(a) < item_size(b); });
  const int64_t size = loop.eighths > 1 ? 8 : static_cast<int64_t>(item_size(widest));
  return static_cast<uint32_t>(std::min<int64_t>(40 + elements * operands * loop.eighths * size / 64, INT32_MAX));
}

// All arrays dense, of one shape and of the loop's dtypes, or scalars; up to three inputs and one output.
class DenseKernel final : public Fusible {
 public:
  const char* name() const override { return name_; }
  int64_t tiles() const override { return std::max<int64_t>(1, ceil_div(n, kTileElements)); }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override;
  bool droppable() const override { return !loop.may_throw; }
  bool fusible() const override { return !loop.may_throw; }
  bool may_share(Op& op, const Storage* in, const Storage* out) const override {
    return may_share_operands(*this, op, in, out);
  }
  bool describe(Op&, OpSpec& spec) const override {
    spec.kind = "elementwise", spec.name = name_;
    for (int i = 0; i < operands; ++i) {
      if (access[i] < 0) {
        spec.scalar(types[i], scalar[~access[i]].bytes);
        continue;
      }
      OpSpec::Operand& made = (i + 1 < operands ? spec.inputs : spec.outputs).emplace_back();
      Layout& vector = made.layout;  // filled in place: a description is made for each operation of a device
      made.access = access[i], vector.dtype = types[i], vector.offset = offset[i], vector.size = n;
      vector.shape.resize(1), vector.shape[0] = n;
      vector.strides.resize(1), vector.strides[0] = steps[i];
    }
    spec.set("types", std::vector<DType>(types, types + operands));
    return describe_checks(spec, loop);
  }
  bool describe_briefly(BriefSpec& brief) const override {
    if (loop.may_throw) return false;
    brief.put("elementwise, dense"), brief.put(name_), brief.put(n);
    for (int i = 0; i < operands; ++i) {
      brief.put(types[i], access[i]), brief.put(offset[i]);
      if (access[i] < 0) brief.scalar(types[i], scalar[~access[i]].bytes);
    }
    return true;
  }
  bool fusible_operands(FusibleOperands& p) const override {
    p.loop = loop, p.n_in = operands - 1, p.n = operands, p.elements = n;
    for (int i = 0; i < operands; ++i) {
      const Scalar* value = access[i] < 0 ? &scalar[~access[i]] : nullptr;
      p.operand[i] = {value ? -1 : access[i], value, offset[i], types[i], types[i], nullptr, 0};
    }
    return true;
  }

  const char* name_;
  Loop loop;
  int64_t n = 0;
  int operands = 0;
  int8_t access[4];  // number of the op's access, or ~number of the scalar
  DType types[4];
  intptr_t steps[4];
  int64_t offset[4];
  Scalar scalar[2];
};

void DenseKernel::run(Op& op, int64_t tile) {
  int64_t from = tile * kTileElements;
  intptr_t count = std::min(n - from, tile + 1 == tiles() ? n : kTileElements);
  char* args[4];
  for (int i = 0; i < operands; ++i)
    args[i] = access[i] < 0 ? reinterpret_cast<char*>(scalar[~access[i]].bytes)
                            : operand_data(op, access[i], offset[i]) + from * steps[i];
  loop.function(args, &count, steps, loop.data);
}

// Any layouts and dtypes.
class StridedKernel final : public Fusible {
 public:
  const char* name() const override { return name_; }
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override;
  bool droppable() const override { return !loop.may_throw; }
  // Not if an operand must be copied first.
  bool fusible() const override { return fusible_; }
  bool may_share(Op& op, const Storage* in, const Storage* out) const override {
    return may_share_operands(*this, op, in, out);
  }
  bool fusible_operands(FusibleOperands& p) const override;
  bool describe(Op&, OpSpec& spec) const override {
    spec.kind = "elementwise", spec.name = name_;
    describe_operands(spec, nest, part_, n_in, n);
    return describe_checks(spec, loop);
  }
  bool describe_briefly(BriefSpec& brief) const override {
    if (loop.may_throw) return false;
    brief.put("elementwise, strided"), brief.put(name_), describe_operands(brief, nest, part_, n_in, n);
    return true;
  }

  void cut(bool one_tile) {
    inner_ = nest.shape.back();
    outer_ = 1;
    for (int i = 0; i + 1 < nest.shape.size(); ++i) outer_ *= nest.shape[i];
    int64_t total = inner_ * outer_;
    // Rows of the nest are distributed; a single long row is cut.
    pieces_ = outer_ > 1 ? 1 : std::max<int64_t>(1, inner_ / kTileElements);
    int64_t rows = outer_ > 1 ? std::max<int64_t>(1, kTileElements / std::max<int64_t>(1, inner_)) : 1;
    rows_ = rows;
    tiles_ = total == 0 || one_tile ? 1 : outer_ > 1 ? ceil_div(outer_, rows) : pieces_;
    fusible_ = total > 0 && !one_tile && !loop.may_throw;
    as_they_are_ = !loop.packed;
    for (int k = 0; k < n; ++k) as_they_are_ = as_they_are_ && part_[k].dtype == part_[k].loop_dtype;
  }

  const char* name_ = "";
  Loop loop;
  int n_in = 0, n = 0;
  OperandPlace part_[kMost];
  IterationSpace nest;
  bool empty = false;
  bool copies[kMost] = {};  // inputs that overlap an output with another layout: used as if copied before the op

 private:
  void compute(char** base, int64_t tile) const;
  void row(char** args, int64_t count) const;
  bool dense(int k) const { return is_dense(nest, k, static_cast<int64_t>(item_size(part_[k].dtype))); }
  bool fusible_ = false;
  bool as_they_are_ = false;  // the loop reads all operands without casts or copies
  int64_t inner_ = 0, outer_ = 0, pieces_ = 1, rows_ = 1, tiles_ = 1;
};

bool StridedKernel::fusible_operands(FusibleOperands& p) const {
  p.loop = loop, p.n_in = n_in, p.n = n, p.elements = product(nest.shape);
  for (int k = 0; k < n; ++k) {
    const OperandPlace& mine = part_[k];
    bool nested = mine.access >= 0 && !dense(k);
    p.operand[k] = {mine.access, &mine.scalar, mine.offset, mine.dtype, mine.loop_dtype, nested ? &nest : nullptr, k};
  }
  return true;
}

void StridedKernel::run(Op& op, int64_t tile) {
  if (empty) return;
  char* base[kMost];
  for (int k = 0; k < n; ++k) {
    OperandPlace& p = part_[k];
    base[k] = p.access < 0 ? reinterpret_cast<char*>(p.scalar.bytes) : operand_data(op, p.access, p.offset);
  }
  with_copied_inputs(*this, n, base, [&](const StridedKernel& kernel) { kernel.compute(base, tile); });
}

void StridedKernel::compute(char** base, int64_t tile) const {
  bool whole = tiles_ == 1;
  if (as_they_are_) {
    const Dims* strides[kMost];
    for (int k = 0; k < n; ++k) strides[k] = &nest.strides[k];
    int64_t size = inner_ * outer_, from = whole ? 0 : outer_ > 1 ? tile * rows_ * inner_ : inner_ * tile / pieces_;
    int64_t to = whole ? size : outer_ > 1 ? std::min(size, from + rows_ * inner_) : inner_ * (tile + 1) / pieces_;
    return loop_over(loop, n, nest.shape, strides, base, nullptr, from, to - from);
  }
  int64_t first = whole        ? 0
                  : outer_ > 1 ? tile * rows_
                               : 0,
          last = whole        ? outer_
                 : outer_ > 1 ? std::min(outer_, first + rows_)
                              : 1;
  int64_t from = whole || outer_ > 1 ? 0 : inner_ * tile / pieces_,
          to = whole || outer_ > 1 ? inner_ : inner_ * (tile + 1) / pieces_;
  int axes = nest.shape.size() - 1;
  for (int64_t r = first; r < last; ++r) {
    char* args[kMost];
    for (int k = 0; k < n; ++k) args[k] = base[k] + from * nest.strides[k][axes];
    int64_t rest = r;
    for (int a = axes - 1; a >= 0; --a) {
      int64_t i = rest % nest.shape[a];
      rest /= nest.shape[a];
      for (int k = 0; k < n; ++k) args[k] += i * nest.strides[k][a];
    }
    row(args, to - from);
  }
}

// One stretch of the innermost axis, through scratch memory where dtypes differ or the loop needs its operands packed.
void StridedKernel::row(char** args, int64_t count) const {
  constexpr int64_t kChunk = 512;
  struct alignas(64) Scratch {
    char of[kMost][kChunk * 16];
  };
  thread_local std::unique_ptr<Scratch> own;
  if (!own) own = std::make_unique<Scratch>();
  auto& scratch = own->of;
  int axis = nest.shape.size() - 1;
  intptr_t steps[kMost];
  bool casts = false, through[kMost];
  for (int k = 0; k < n; ++k) {
    steps[k] = nest.strides[k][axis];
    intptr_t size = static_cast<intptr_t>(item_size(part_[k].dtype));
    if (loop.packed && count == 1 && part_[k].access >= 0) steps[k] = size;
    through[k] = part_[k].dtype != part_[k].loop_dtype || (loop.packed && steps[k] != 0 && steps[k] != size);
    casts = casts || through[k];
  }
  if (!casts) {
    intptr_t length = count;
    loop.function(args, &length, steps, loop.data);
    return;
  }
  for (int64_t done = 0; done < count; done += kChunk) {
    intptr_t length = std::min(kChunk, count - done);
    char* inner[kMost];
    intptr_t inner_steps[kMost];
    for (int k = 0; k < n; ++k) {
      inner[k] = args[k] + done * steps[k];
      inner_steps[k] = steps[k];
      if (!through[k]) continue;
      char* at[2] = {inner[k], scratch[k]};
      intptr_t size = static_cast<intptr_t>(item_size(part_[k].loop_dtype)), pair[2] = {steps[k], size};
      if (k < n_in) {
        Loop c = cast_loop(part_[k].dtype, part_[k].loop_dtype);
        c.function(at, &length, pair, c.data);
      }
      inner[k] = scratch[k], inner_steps[k] = size;
    }
    loop.function(inner, &length, inner_steps, loop.data);
    for (int k = n_in; k < n; ++k) {
      if (!through[k]) continue;
      char* at[2] = {scratch[k], args[k] + done * steps[k]};  // NumPy's loops may have changed inner[k]
      intptr_t pair[2] = {inner_steps[k], steps[k]};
      Loop c = cast_loop(part_[k].loop_dtype, part_[k].dtype);
      c.function(at, &length, pair, c.data);
    }
  }
}

}  // namespace

void describe_operands(OpSpec& spec, const IterationSpace& nest, const OperandPlace* operands, int n_in, int n) {
  std::vector<DType> types;
  for (int k = 0; k < n; ++k) {
    const OperandPlace& p = operands[k];
    types.push_back(p.loop_dtype);
    if (p.access < 0) {
      spec.scalar(p.dtype, p.scalar.bytes);
      continue;
    }
    Layout layout = strided(p.dtype, nest.shape, nest.strides[k], p.offset);
    k < n_in ? spec.input(p.access, std::move(layout)) : spec.output(p.access, std::move(layout));
  }
  spec.set("types", std::move(types));
}

void describe_operands(BriefSpec& brief, const IterationSpace& nest, const OperandPlace* operands, int n_in, int n) {
  brief.put(n_in, n), brief.put(nest.shape);
  for (int k = 0; k < n; ++k) {
    const OperandPlace& p = operands[k];
    brief.put(p.loop_dtype, p.dtype), brief.put(p.access), brief.put(p.offset);
    if (p.access < 0)
      brief.scalar(p.dtype, p.scalar.bytes);
    else
      brief.put(nest.strides[k]);
  }
}

bool describe_checks(OpSpec& spec, const Loop& loop) {
  if (!loop.may_throw) return true;
  if (loop.checked == Checked::anything) return false;
  if (loop.checked == Checked::exponents) {
    spec.check(ErrorKind::value, "power: integers must not be raised to negative integer powers");
    return true;
  }
  const Limits& limits = limits_of(loop);
  spec.name = "within";
  spec.set("low", limits.low), spec.set("high", limits.high);
  spec.set("open_low", limits.open_low), spec.set("open_high", limits.open_high);
  spec.set("takes_nan", limits.takes_nan);
  spec.check(limits.overflow ? ErrorKind::overflow : ErrorKind::value,
             limits.message + ", got a value that breaks this rule");
  return true;
}

void build_elementwise_dense(Op& op, const char* name, Loop loop, const DType* types, const Operand* inputs, int n_in,
                             const Array& out) {
  int scalars = 0;
  for (int i = 0; i < n_in; ++i) scalars += !inputs[i].array;
  if (n_in > 3 || scalars > 2) {
    const Array* outputs[] = {&out};
    return build_elementwise(op, name, loop, types, inputs, n_in, outputs, 1);
  }
  DenseKernel& k = op.emplace<DenseKernel>();
  k.name_ = name, k.loop = loop, k.operands = n_in + 1;
  k.n = out.layout.size;
  scalars = 0;
  for (int i = 0; i < n_in; ++i) {
    const Operand& in = inputs[i];
    k.offset[i] = 0, k.steps[i] = 0, k.types[i] = types[i];
    if (!in.array) {
      k.scalar[scalars] = in.scalar;
      k.access[i] = static_cast<int8_t>(~scalars++);
      continue;
    }
    k.access[i] = static_cast<int8_t>(op.n_access);
    k.offset[i] = in.array->layout.offset;
    k.steps[i] = static_cast<intptr_t>(item_size(types[i]));
    if (k.n * k.steps[i] == static_cast<int64_t>(in.array->storage()->bytes)) [[likely]]
      op.add(in.array->storage(), Mode::read);
    else
      add(op, *in.array, Mode::read);
  }
  k.access[n_in] = static_cast<int8_t>(op.n_access);
  k.offset[n_in] = out.layout.offset, k.types[n_in] = types[n_in];
  k.steps[n_in] = static_cast<intptr_t>(item_size(types[n_in]));
  op.add(out.storage(), Mode::write);
  op.cost = cost_of(k.n, k.operands, loop, types);
}

void build_elementwise(Op& op, const char* name, Loop loop, const DType* types, const Operand* inputs, int n_in,
                       const Array* const* outputs, int n_out) {
  const Dims& shape = outputs[0]->layout.shape;
  StridedKernel& k = op.emplace<StridedKernel>();
  k.name_ = name, k.loop = loop, k.n_in = n_in, k.n = n_in + n_out;
  Dims strides[kMost];
  const Dims* all[kMost];
  bool aliased = false;
  for (int i = 0; i < k.n; ++i) {
    OperandPlace& p = k.part_[i];
    const Array* array = i < n_in ? inputs[i].array : outputs[i - n_in];
    p.loop_dtype = types[i];
    all[i] = &strides[i];
    if (!array) {
      p.dtype = types[i];
      p.scalar = inputs[i].scalar;
      strides[i] = Dims(shape.size());
      continue;
    }
    Layout seen = broadcast_to(name, array->layout, shape);
    p.dtype = seen.dtype, p.offset = seen.offset, p.access = op.n_access;
    strides[i] = seen.strides;
    for (int o = 0; i < n_in && o < n_out; ++o) {
      const Layout& out = outputs[o]->layout;
      if (array->storage() != outputs[o]->storage()) continue;
      bool same = out.dtype == seen.dtype && out.offset == seen.offset && out.strides == seen.strides;
      if (!same && overlap(array->storage(), array->layout, outputs[o]->storage(), out)) k.copies[i] = aliased = true;
    }
    k.copies[i] ? add_loosely(op, *array, Mode::read) : add(op, *array, i < n_in ? Mode::read : array->write_mode());
  }
  for (int o = n_in; o < k.n; ++o)
    for (int i = 0; i < n_in; ++i)
      if (k.part_[i].access >= 0 && op.access(k.part_[i].access).storage == op.access(k.part_[o].access).storage)
        op.access(k.part_[o].access).mode = Mode::update;
  k.nest = make_iteration_space(shape, all, k.n);
  k.empty = outputs[0]->layout.size == 0;
  k.cut(aliased);
  op.cost = cost_of(outputs[0]->layout.size, k.n, loop, types);
}

}  // namespace forerun
