#include "cpu/kernels/elementwise/masked_write.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/rounding.h"
#include "base/simd/simd_target.h"
#include "cpu/kernels/snapshot.h"
#include "cpu/loops/cast.h"
#include "cpu/loops/item.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int kMost = IterationSpace::kMaxOperands;
constexpr int64_t kChunk = 512;              // elements that go through scratch memory at once
constexpr int64_t kTile = int64_t{1} << 16;  // elements that one worker takes at once
constexpr uint64_t kEightOnes = 0x0101010101010101;
constexpr int64_t kWorthOneCall = 16;  // elements that a loop computes in the time of a call of it, about

uint32_t cost_of(int64_t elements, int operands) {
  return static_cast<uint32_t>(std::min<int64_t>(60 + elements * operands / 2, INT32_MAX));
}

// --- elements of one size, chosen by bytes that are 0 or 1 -----------------------------------------------------------

template <class T>
[[gnu::always_inline]] inline void blend(const uint8_t* mask, const char* from, intptr_t from_step, char* to,
                                         intptr_t to_step, intptr_t n) {
  constexpr intptr_t kSize = sizeof(T);
  if (to_step == kSize && (from_step == kSize || from_step == 0)) {
    auto* out = reinterpret_cast<T*>(to);
    auto* in = reinterpret_cast<const T*>(from);
    if (from_step == 0) {
      const T one = *in;
#pragma GCC ivdep
      for (intptr_t i = 0; i < n; ++i) out[i] = mask[i] ? one : out[i];
      return;
    }
#pragma GCC ivdep
    for (intptr_t i = 0; i < n; ++i) out[i] = mask[i] ? in[i] : out[i];
    return;
  }
  for (intptr_t i = 0; i < n; ++i)
    if (mask[i]) std::memcpy(to + i * to_step, from + i * from_step, kSize);
}

#define FORERUN_BLEND(name, type)                                                                                 \
  FORERUN_CLONES void name(const uint8_t* mask, const char* from, intptr_t from_step, char* to, intptr_t to_step, \
                           intptr_t n) {                                                                          \
    blend<type>(mask, from, from_step, to, to_step, n);                                                           \
  }
FORERUN_BLEND(blend_1, uint8_t)
FORERUN_BLEND(blend_2, uint16_t)
FORERUN_BLEND(blend_4, uint32_t)
FORERUN_BLEND(blend_8, uint64_t)
#undef FORERUN_BLEND

void blend_any(size_t size, const uint8_t* mask, const char* from, intptr_t from_step, char* to, intptr_t to_step,
               intptr_t n) {
  switch (size) {
    case 1: return blend_1(mask, from, from_step, to, to_step, n);
    case 2: return blend_2(mask, from, from_step, to, to_step, n);
    case 4: return blend_4(mask, from, from_step, to, to_step, n);
    case 8: return blend_8(mask, from, from_step, to, to_step, n);
    default: break;
  }
  for (intptr_t i = 0; i < n; ++i)
    if (mask[i]) std::memcpy(to + i * to_step, from + i * from_step, size);
}

// The number of true bytes of a mask, and of runs of them; writes the mask as bytes that are 0 or 1.
struct Count {
  int64_t held = 0, runs = 0;
};
FORERUN_CLONES Count read_mask(const char* from, intptr_t step, uint8_t* to, intptr_t n) {
  auto* in = reinterpret_cast<const uint8_t*>(from);
  if (step == 1) {
#pragma GCC ivdep
    for (intptr_t i = 0; i < n; ++i) to[i] = in[i] != 0;
  } else {
    for (intptr_t i = 0; i < n; ++i) to[i] = in[i * step] != 0;
  }
  uint32_t held = to[0], runs = to[0];
  for (intptr_t i = 1; i < n; ++i) held += to[i], runs += to[i] & ~to[i - 1] & 1;
  return {held, runs};
}

// --- a loop under a mask ---------------------------------------------------------------------------------------------

class MaskedKernel final : public Kernel {
 public:
  const char* name() const override { return name_; }
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override;
  bool describe(Op&, OpSpec& spec) const override {
    spec.kind = "masked", spec.name = loop.function ? name_ : "copy";
    describe_operands(spec, nest, part_, n_in, n);
    const OperandPlace& mask = part_[n];
    spec.input(mask.access, strided(DType::b1, nest.shape, nest.strides[n], mask.offset));
    return describe_checks(spec, loop);
  }
  bool describe_briefly(BriefSpec& brief) const override {
    if (loop.may_throw) return false;
    brief.put("masked"), brief.put(loop.function ? name_ : "copy");
    describe_operands(brief, nest, part_, n_in, n), brief.put(part_[n].access), brief.put(part_[n].offset);
    brief.put(nest.strides[n]);
    return true;
  }

  void cut(bool one_tile) {
    inner_ = nest.shape.back(), outer_ = product(nest.shape) / inner_;
    rows_ = std::max<int64_t>(1, kTile / inner_);
    pieces_ = outer_ > 1 || one_tile ? 1 : std::max<int64_t>(1, inner_ / kTile);
    if (one_tile) rows_ = outer_;
    tiles_ = outer_ > 1 ? ceil_div(outer_, rows_) : pieces_;
  }

  const char* name_ = "";
  Loop loop;  // without a function: a copy
  int n_in = 0, n = 0;
  OperandPlace part_[kMost];  // inputs, outputs, the mask
  IterationSpace nest;
  bool empty = false;
  bool copies[kMost] = {};  // used as if it had been copied before the op: its memory is written at other positions

 private:
  struct Scratch {
    alignas(64) uint8_t mask[kChunk];
    alignas(64) char loop[kMost][kChunk * 16],
        cast[kMost][kChunk * 16];  // operands in the loop's dtypes; outputs in those of memory
  };
  struct Stretch {
    char* args[kMost];
    intptr_t steps[kMost];
  };
  void compute(char** base, int64_t tile, Scratch& scratch) const;
  void row(char** args, int64_t count, Scratch& scratch) const;
  void compute(const Stretch& s, Scratch& scratch, intptr_t n) const;
  void choose(const Stretch& s, Scratch& scratch, intptr_t n) const;
  bool takes_as_it_is(const Stretch& s, int k) const {
    const auto size = static_cast<intptr_t>(item_size(part_[k].dtype));
    return part_[k].dtype == part_[k].loop_dtype && (!loop.packed || s.steps[k] == 0 || s.steps[k] == size);
  }
  // Input k in the form that the loop needs.
  char* packed(const Stretch& s, Scratch& scratch, int k, intptr_t n, intptr_t* step) const {
    *step = s.steps[k];
    if (takes_as_it_is(s, k)) return s.args[k];
    const auto size = static_cast<intptr_t>(item_size(part_[k].loop_dtype));
    convert(part_[k].dtype, part_[k].loop_dtype, s.args[k], s.steps[k], scratch.loop[k], size, n);
    *step = size;
    return scratch.loop[k];
  }
  static void convert(DType from, DType to, char* in, intptr_t in_step, char* out, intptr_t out_step, intptr_t n) {
    char* args[2] = {in, out};
    const intptr_t steps[2] = {in_step, out_step};
    Loop c = cast_loop(from, to);
    c.function(args, &n, steps, c.data);
  }

  int64_t inner_ = 1, outer_ = 1, pieces_ = 1, rows_ = 1, tiles_ = 1;
};

void MaskedKernel::run(Op& op, int64_t tile) {
  if (empty) return;
  thread_local std::unique_ptr<Scratch> scratch;
  if (!scratch) scratch = std::make_unique<Scratch>();
  char* base[kMost];
  for (int k = 0; k <= n; ++k) {
    OperandPlace& p = part_[k];
    base[k] = p.access < 0 ? reinterpret_cast<char*>(p.scalar.bytes) : operand_data(op, p.access, p.offset);
  }
  with_copied_inputs(*this, n + 1, base, [&](const MaskedKernel& kernel) { kernel.compute(base, tile, *scratch); });
}

void MaskedKernel::compute(char** base, int64_t tile, Scratch& scratch) const {
  const Rows rows{nest.shape};
  const int axis = nest.shape.size() - 1;
  const int64_t from = outer_ > 1 ? 0 : inner_ * tile / pieces_,
                to = outer_ > 1 ? inner_ : inner_ * (tile + 1) / pieces_;
  for (int64_t r = outer_ > 1 ? tile * rows_ : 0, last = outer_ > 1 ? std::min(outer_, r + rows_) : 1; r < last; ++r) {
    char* args[kMost];
    for (int k = 0; k <= n; ++k) args[k] = base[k] + rows.at(r, nest.strides[k]) + from * nest.strides[k][axis];
    row(args, to - from, scratch);
  }
}

// One stretch of the innermost axis.
void MaskedKernel::row(char** args, int64_t count, Scratch& scratch) const {
  const int axis = nest.shape.size() - 1;
  Stretch s;
  for (int k = 0; k <= n; ++k) s.steps[k] = nest.strides[k][axis];
  for (int64_t done = 0; done < count; done += kChunk) {
    const intptr_t length = std::min(kChunk, count - done);
    for (int k = 0; k <= n; ++k) s.args[k] = args[k] + done * s.steps[k];
    const Count found = read_mask(s.args[n], s.steps[n], scratch.mask, length);
    if (found.held == 0) continue;
    if (found.held == length) {
      compute(s, scratch, length);
    } else if (!loop.function || (!loop.may_throw && found.runs * kWorthOneCall > length)) {
      choose(s, scratch, length);
    } else {
      for (intptr_t at = 0; at < length;) {
        if (!scratch.mask[at] && ++at) continue;
        intptr_t end = at + 1;
        while (end < length && scratch.mask[end]) ++end;
        Stretch run = s;
        for (int k = 0; k <= n; ++k) run.args[k] += at * s.steps[k];
        compute(run, scratch, end - at);
        at = end;
      }
    }
  }
}

// Computes all elements of a stretch.
void MaskedKernel::compute(const Stretch& s, Scratch& scratch, intptr_t n_elements) const {
  if (!loop.function)
    return convert(part_[0].dtype, part_[1].dtype, s.args[0], s.steps[0], s.args[1], s.steps[1], n_elements);
  char* args[kMost];
  intptr_t steps[kMost];
  for (int k = 0; k < n_in; ++k) args[k] = packed(s, scratch, k, n_elements, &steps[k]);
  for (int k = n_in; k < n; ++k) {
    bool as_it_is = takes_as_it_is(s, k);
    args[k] = as_it_is ? s.args[k] : scratch.loop[k];
    steps[k] = as_it_is ? s.steps[k] : static_cast<intptr_t>(item_size(part_[k].loop_dtype));
  }
  intptr_t length = n_elements;
  loop.function(args, &length, steps, loop.data);  // NumPy's loops may change `args`
  for (int k = n_in; k < n; ++k)
    if (!takes_as_it_is(s, k))
      convert(part_[k].loop_dtype, part_[k].dtype, scratch.loop[k], steps[k], s.args[k], s.steps[k], n_elements);
}

// Computes all elements of a stretch, and stores those under the mask.
void MaskedKernel::choose(const Stretch& s, Scratch& scratch, intptr_t n_elements) const {
  char* args[kMost];
  intptr_t steps[kMost];
  for (int k = 0; k < n_in; ++k) args[k] = packed(s, scratch, k, n_elements, &steps[k]);
  for (int k = n_in; k < n; ++k)
    args[k] = scratch.loop[k], steps[k] = static_cast<intptr_t>(item_size(part_[k].loop_dtype));
  intptr_t length = n_elements;
  if (loop.function)
    loop.function(args, &length, steps, loop.data);
  else
    args[1] = args[0], steps[1] = steps[0];
  for (int k = n_in; k < n; ++k) {
    const size_t size = item_size(part_[k].dtype);
    if (part_[k].dtype != part_[k].loop_dtype) {
      convert(part_[k].loop_dtype, part_[k].dtype, args[k], steps[k], scratch.cast[k], static_cast<intptr_t>(size),
              n_elements);
      args[k] = scratch.cast[k], steps[k] = static_cast<intptr_t>(size);
    }
    blend_any(size, scratch.mask, args[k], steps[k], s.args[k], s.steps[k], n_elements);
  }
}

}  // namespace

void build_masked(Op& op, const char* name, Loop loop, const DType* types, const Operand* inputs, int n_in,
                  const Array* const* outputs, int n_out, const Array& mask) {
  const Dims& shape = outputs[0]->layout.shape;
  MaskedKernel& k = op.emplace<MaskedKernel>();
  k.name_ = name, k.loop = loop, k.n_in = n_in, k.n = n_in + n_out;
  Dims strides[kMost];
  const Dims* all[kMost];
  auto array_at = [&](int i) { return i == k.n ? &mask : i < n_in ? inputs[i].array : outputs[i - n_in]; };
  bool aliased = false;
  for (int i = 0; i <= k.n; ++i) {
    OperandPlace& p = k.part_[i];
    const Array* array = array_at(i);
    p.dtype = p.loop_dtype = i == k.n ? DType::b1 : types[i];
    all[i] = &strides[i];
    strides[i] = Dims(shape.size());
    if (!array) {
      p.scalar = inputs[i].scalar;
      continue;
    }
    Layout seen = broadcast_to(name, array->layout, shape);
    p.dtype = seen.dtype, p.offset = seen.offset, p.access = op.n_access;
    strides[i] = seen.strides;
    bool is_output = i >= n_in && i < k.n;
    for (int o = 0; !is_output && o < n_out; ++o) {
      const Layout& out = outputs[o]->layout;
      bool same = out.dtype == seen.dtype && out.offset == seen.offset && out.strides == seen.strides;
      // The mask of a chunk is read before the chunk is written, inputs likewise.
      if (!same && overlap(array->storage(), array->layout, outputs[o]->storage(), out)) k.copies[i] = aliased = true;
    }
    op.add(array->storage(), is_output ? Mode::update : Mode::read);
  }
  k.nest = make_iteration_space(shape, all, k.n + 1);
  k.empty = outputs[0]->layout.size == 0;
  if (!k.empty) k.cut(aliased);
  op.cost = cost_of(outputs[0]->layout.size, k.n + 1);
}

namespace {

// --- values one after the other under a mask -------------------------------------------------------------------------

class PlaceKernel final : public Kernel {
 public:
  const char* name() const override { return "place"; }
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void prepare(Op& op) override;
  void run(Op& op, int64_t tile) override;
  bool describe(Op&, OpSpec& spec) const override {
    static constexpr const char* names[] = {"each", "in_turn", "in_place"};
    spec.kind = "place", spec.name = names[static_cast<int>(placing)];
    spec.input(1, strided(DType::b1, shape, mask_strides, mask_offset));
    spec.input(2, strided(dtype, {values}, {values_step}, values_offset));
    spec.output(0, strided(dtype, shape, to_strides, to_offset));
    spec.set("axis", int64_t{0});
    if (placing == Placing::each)
      spec.check(ErrorKind::value, std::string(op_name) +
                                       ": there must be a value for each element under the mask, got " +
                                       std::to_string(values) + " for others");
    if (placing == Placing::in_turn && values == 0)
      spec.check(ErrorKind::value, std::string(op_name) + ": there must be at least one value, got none");
    return true;
  }

  Dims shape, to_strides, mask_strides;  // axes merged where possible
  int64_t size = 0, to_offset = 0, mask_offset = 0, values_offset = 0, values_step = 0, values = 0;
  size_t item = 0;
  DType dtype = DType::f32;
  Placing placing;
  const char* op_name;
  bool copies_mask = false, copies_values = false;
  int64_t tiles_ = 1;

 private:
  // Calls f(first flat position, offset in `to`, offset in the mask, n) for each row, as far as it is between two flat
  // positions.
  template <class F>
  void each_row(int64_t from, int64_t to, F f) const {
    const Rows rows{shape};
    const int64_t n = shape.back();
    while (from < to) {
      const int64_t row = from / n, column = from % n, length = std::min(n - column, to - from);
      f(from, rows.at(row, to_strides) + column * to_strides.back(),
        rows.at(row, read_strides_) + column * read_strides_.back(), length);
      from += length;
    }
  }
  int64_t end_of(int64_t tile) const { return tile + 1 == tiles_ ? size : (tile + 1) * kTile; }
  template <class T>
  void put(char* to, const char* mask, int64_t n, int64_t to_step, int64_t mask_step, int64_t* next) const;

  const char* mask_ = nullptr;
  const char* values_ = nullptr;
  Dims read_strides_;  // of the mask, and the step of the values: those of the copies, if they are copied
  int64_t read_step_ = 0;
  Snapshot of_mask_, of_values_;
  std::vector<int64_t> first_;  // for each tile: how many elements before it are under the mask

 public:
  PlaceKernel() = default;
  PlaceKernel(const PlaceKernel& o)
      : Kernel(o), shape(o.shape), to_strides(o.to_strides), mask_strides(o.mask_strides), size(o.size),
        to_offset(o.to_offset), mask_offset(o.mask_offset), values_offset(o.values_offset), values_step(o.values_step),
        values(o.values), item(o.item), dtype(o.dtype), placing(o.placing), op_name(o.op_name),
        copies_mask(o.copies_mask), copies_values(o.copies_values), tiles_(o.tiles_) {}
};

void PlaceKernel::prepare(Op& op) {
  mask_ = operand_data(op, 1, mask_offset), values_ = operand_data(op, 2, values_offset);
  read_strides_ = mask_strides;
  if (copies_mask && size) mask_ = of_mask_.take(mask_, DType::b1, shape, read_strides_);
  Dims step{values_step};
  if (copies_values && values) values_ = of_values_.take(values_, dtype, Dims{values}, step);
  read_step_ = step[0];
  if (placing == Placing::in_place) return;
  first_.assign(static_cast<size_t>(tiles_), 0);
  uint8_t bytes[kChunk];
  int64_t total = 0;
  for (int64_t tile = 0; tile < tiles_ && size; ++tile) {
    first_[tile] = total;
    each_row(tile * kTile, end_of(tile), [&](int64_t, int64_t, int64_t at, int64_t n) {
      for (int64_t i = 0; i < n; i += kChunk)
        total +=
            read_mask(mask_ + at + i * read_strides_.back(), read_strides_.back(), bytes, std::min(kChunk, n - i)).held;
    });
  }
  if (placing == Placing::each && total != values)
    throw Error(ErrorKind::value, std::string(op_name) + ": there must be a value for each of " +
                                      std::to_string(total) + " elements under the mask, got " +
                                      std::to_string(values));
  if (total && !values)
    throw Error(ErrorKind::value, std::string(op_name) + ": there must be at least one value, got none for " +
                                      std::to_string(total) + " elements");
}

// next: the value of the first element under the mask, or of the first element; advanced to the next value.
template <class T>
void PlaceKernel::put(char* to, const char* mask, int64_t n, int64_t to_step, int64_t mask_step, int64_t* next) const {
  int64_t k = *next, i = 0;
  const int64_t all = placing == Placing::in_place;
  // Eight elements at once, most often all of them or none; values do not wrap around within them.
  for (; mask_step == 1 && !all && i + 8 <= n; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, mask + i, 8);
    if (eight == 0) continue;
    if (eight == kEightOnes && to_step == sizeof(T) && read_step_ == sizeof(T) && k + 8 < values) {
      std::memcpy(to + i * to_step, values_ + k * read_step_, 8 * sizeof(T));
      k += 8;
      continue;
    }
    for (int64_t j = i; j < i + 8; ++j) {
      if (!mask[j]) continue;
      std::memcpy(to + j * to_step, values_ + k * read_step_, sizeof(T));
      k = k + 1 == values ? 0 : k + 1;
    }
  }
  for (; i < n; ++i) {
    const int64_t holds = mask[i * mask_step] != 0;
    T out, value;
    std::memcpy(static_cast<void*>(&out), to + i * to_step, sizeof out);
    std::memcpy(static_cast<void*>(&value), values_ + k * read_step_, sizeof value);
    out = holds ? value : out;  // no branch, which could not be predicted
    std::memcpy(to + i * to_step, &out, sizeof out);
    k += holds | all;
    k = k == values ? 0 : k;
  }
  *next = k;
}

void PlaceKernel::run(Op& op, int64_t tile) {
  if (size == 0 || values == 0) return;
  char* to = operand_data(op, 0, to_offset);
  int64_t next = (placing == Placing::in_place ? tile * kTile : first_[tile]) % values;
  each_row(tile * kTile, end_of(tile), [&](int64_t, int64_t at, int64_t of_mask, int64_t n) {
    auto with = [&](auto element) {
      put<decltype(element)>(to + at, mask_ + of_mask, n, to_strides.back(), read_strides_.back(), &next);
    };
    with_item(item, with);
  });
}

// Merges neighbouring axes that can be traversed as one, of two operands; the order of the elements stays.
void merge_axes(const Layout& a, const Layout& b, PlaceKernel& k) {
  Dims shape, sa, sb;
  for (int i = 0; i < a.ndim(); ++i) {
    if (a.shape[i] == 1) continue;
    const int last = shape.size() - 1;
    if (last >= 0 && sa[last] == a.strides[i] * a.shape[i] && sb[last] == b.strides[i] * a.shape[i])
      shape[last] *= a.shape[i], sa[last] = a.strides[i], sb[last] = b.strides[i];
    else
      shape.push_back(a.shape[i]), sa.push_back(a.strides[i]), sb.push_back(b.strides[i]);
  }
  if (shape.empty()) shape = Dims{1}, sa = Dims{0}, sb = Dims{0};
  k.shape = shape, k.to_strides = sa, k.mask_strides = sb;
}

}  // namespace

void build_place(Op& op, const Array& to, const Array& mask, const Array& values, Placing placing,
                 const char* op_name) {
  PlaceKernel& k = op.emplace<PlaceKernel>();
  op.add(to.storage(), Mode::update);
  op.add(mask.storage(), Mode::read);
  op.add(values.storage(), Mode::read);
  merge_axes(to.layout, mask.layout, k);
  k.size = to.layout.size, k.dtype = to.layout.dtype, k.item = item_size(k.dtype), k.placing = placing,
  k.op_name = op_name;
  k.to_offset = to.layout.offset, k.mask_offset = mask.layout.offset, k.values_offset = values.layout.offset;
  k.values = values.layout.size, k.values_step = values.layout.ndim() ? values.layout.strides[0] : 0;
  k.copies_mask = overlap(to.storage(), to.layout, mask.storage(), mask.layout);
  k.copies_values = overlap(to.storage(), to.layout, values.storage(), values.layout);
  k.tiles_ = std::max<int64_t>(1, k.size / kTile);
  op.cost = cost_of(to.layout.size, 3);
}

}  // namespace forerun
