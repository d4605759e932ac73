#include "cpu/kernels/fusion/fused_kernel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include "cpu/kernels/elementwise/simd_arithmetic.h"
#include "cpu/kernels/scratch.h"

namespace forerun {

FusedGroup* Fusible::new_group(Op& op) const {
  auto group = std::make_unique<FusedKernel>();
  return group->add(op) ? group.release() : nullptr;
}

namespace {

constexpr size_t kMostOps = 512;
// Values of a block are in the L1 cache together, or little is fetched anew from the next one: shorter blocks cost more
// calls of loops than they save.
constexpr int64_t kNearBytes = 64 << 10, kLeastBlock = 256;
constexpr int64_t kVector = 16;                                   // elements
constexpr int64_t kReductionBytes = 64 << 10, kMostBlock = 8192;  // of blocks that have whole rows
// Arrays that do not stay in caches: of so many of them, lines of the next block are fetched beside the steps of this
// one.
constexpr int64_t kStreamBytes = 8 << 20, kLine = 64, kLeastAhead = 4 * kLine;
constexpr size_t kMostStreams = 4;
// Elements of a row that is worth a call of a loop; and shorter ones are this many times as long as what is between
// them, if that is walked, too. It may be written meanwhile, by ops that have nothing to do with these.
constexpr int64_t kLongRow = 128, kRowsToGaps = 4;
#ifdef __SANITIZE_THREAD__
constexpr bool kMayPassRows = false;
#else
constexpr bool kMayPassRows = true;
#endif
// A tile of a long string of ops has fewer elements, so that several threads share what is not long.
constexpr int64_t kTileOps = 4, kLeastTile = 4096;
// Longer than a page by some lines: values that start at the same place of a page get into each other's way.
constexpr int64_t kApart = 192;

const Fusible& kernel_of(const Op& op) { return static_cast<const Fusible&>(*op.kernel()); }

bool same_elements(const FusibleOperands::Operand& a, const FusibleOperands::Operand& b) {
  if (a.offset != b.offset || a.dtype != b.dtype || !a.nest != !b.nest) return false;
  return !a.nest || (a.nest->shape == b.nest->shape && a.nest->strides[a.place] == b.nest->strides[b.place]);
}

Plan::Operand in_scratch(int value, DType dtype) {
  Plan::Operand place;
  place.value = value, place.size = static_cast<intptr_t>(item_size(dtype));
  return place;
}

// A step that copies, or casts.
Plan::Step conversion(const Plan::Operand& from, const Plan::Operand& to, DType a, DType b) {
  Plan::Step step;
  step.loop = cast_loop(a, b), step.n = 2, step.n_in = 1;
  step.operands[0] = from, step.operands[1] = to;
  return step;
}

// Of a plan with a pitch: a step that copies rows from memory, or to it.
Plan::Step by_rows(const Plan::Operand& from, const Plan::Operand& to, DType dtype) {
  Plan::Step step = conversion(from, to, dtype, dtype);
  step.apart = true;
  return step;
}

// Whether an operand of a nest has the same value for a whole row, and rows follow one another.
bool repeats_rows(const FusibleOperands::Operand& operand, int64_t row_length, int64_t size) {
  int64_t inner = 1;
  const Dims &shape = operand.nest->shape, &strides = operand.nest->strides[operand.place];
  int axis = shape.size() - 1;
  for (; axis >= 0 && inner < row_length; --axis) {
    if (strides[axis] != 0) return false;
    inner *= shape[axis];
  }
  if (inner != row_length) return false;
  for (int64_t step = size; axis >= 0; --axis) {
    if (strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

}  // namespace

// --- which ops go together -------------------------------------------------------------------------------------------

namespace {

uint64_t next_number() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

FusedKernel::FusedKernel() : number_(next_number()) {
  ops_.reserve(8), storages_.reserve(16), where_.reserve(24), signature_.reserve(96), sources_.reserve(24);
}

bool FusedKernel::StorageUse::as(Use other, const FusibleOperands::Operand& operand) const {
  if (mixed || use != other || offset != operand.offset || size != static_cast<int64_t>(item_size(operand.dtype)))
    return false;
  if (use != Use::other) return true;
  return nest && operand.nest && nest->shape == operand.nest->shape &&
         nest->strides[place] == operand.nest->strides[operand.place];
}

int64_t FusedKernel::tile_elements() const {
  const auto ops = static_cast<int64_t>(ops_.size());
  const int64_t most = ops <= kTileOps ? kTileElements : std::max(kLeastTile, kTileElements * kTileOps / ops);
  return most / plan_->block * plan_->block;
}

FusedKernel::Use FusedKernel::use_of(const FusibleOperands& part, const FusibleOperands::Operand& operand) const {
  bool of_rows = part.elements != elements_;
  int64_t size = static_cast<int64_t>(item_size(operand.dtype));
  if (part.fold && &operand == &part.operand[1]) return part.fold->by_rows() ? Use::row : Use::total;
  if (!operand.nest) return of_rows ? Use::row : Use::each;
  if (!of_rows && reduction_ && reduction_->by_rows() && repeats_rows(operand, reduction_->row_length(), size))
    return Use::row;
  return Use::other;
}

bool FusedKernel::add(Op& op) {
  FusibleOperands part;
  if (ops_.size() == kMostOps || !kernel_of(op).fusible_operands(part)) return false;
  if (ops_.empty()) elements_ = part.elements;
  bool of_rows = part.elements != elements_;
  if (of_rows && (!reduction_ || !reduction_->by_rows() || part.fold || part.elements != reduction_->rows()))
    return false;
  if (part.fold && reduction_ && !part.fold->same_tiles(*reduction_)) return false;
  const BlockedReduction* before = reduction_;
  if (part.fold && !reduction_) reduction_ = part.fold;
  Use uses[IterationSpace::kMaxOperands];
  int where[IterationSpace::kMaxOperands];  // in storages_, or -1
  bool fits = true;
  for (int i = 0; i < part.n && fits; ++i) {
    const FusibleOperands::Operand& operand = part.operand[i];
    where[i] = -1;
    if (operand.access < 0) continue;
    uses[i] = use_of(part, operand);
    const StorageUse* known = find(op.access(operand.access).storage);
    if (!known) continue;
    where[i] = static_cast<int>(known - storages_.data());
    if (!known->written && i < part.n_in) continue;
    fits = uses[i] != Use::total && known->as(uses[i], operand);
  }
  if (!fits) {
    reduction_ = before;
    return false;
  }
  for (int i = 0; i < part.n; ++i) {
    const FusibleOperands::Operand& operand = part.operand[i];
    if (operand.access < 0) continue;
    Storage* storage = op.access(operand.access).storage;
    auto size = static_cast<int64_t>(item_size(operand.dtype));
    bool writes = i >= part.n_in;
    for (int k = 0; k < i && where[i] < 0; ++k)
      if (part.operand[k].access >= 0 && op.access(part.operand[k].access).storage == storage) where[i] = where[k];
    if (where[i] < 0) {
      where[i] = static_cast<int>(storages_.size());
      storage->place = static_cast<uint32_t>(where[i]), storage->placed_by = number_;
      storages_.push_back({storage, uses[i], writes, false, operand.offset, size, ops_.size(), ops_.size(),
                           operand.nest, operand.place, false});
      continue;
    }
    StorageUse& known = storages_[where[i]];
    known.last_use = ops_.size();
    if (writes && !known.written) known.first_write = ops_.size();
    if (!known.as(uses[i], operand)) known.use = Use::other, known.mixed = true;
    known.written = known.written || writes;
  }
  ops_.push_back(&op);
  where_.insert(where_.end(), where, where + part.n);
  append_signature(part, where);
  return true;
}

// Two groups of the same signature do the same with their operands.
void FusedKernel::append_signature(const FusibleOperands& part, const int* where) {
  auto word = [&](auto value) { signature_.push_back(static_cast<uint64_t>(value)); };
  word(reinterpret_cast<uintptr_t>(part.loop.function));
  word(reinterpret_cast<uintptr_t>(part.loop.data));
  word(part.elements);
  word(part.n << 16 | part.n_in << 8 | part.loop.packed << 1 | (part.fold != nullptr));
  if (part.fold) word(part.fold->rows()), word(part.fold->row_length());
  for (int i = 0; i < part.n; ++i) {
    const FusibleOperands::Operand& o = part.operand[i];
    word(static_cast<uint64_t>(where[i] + 1) << 32 | static_cast<uint64_t>(o.dtype) << 16 |
         static_cast<uint64_t>(o.loop_dtype) << 8 | (o.nest ? o.nest->shape.size() : 0));
    if (!o.nest) continue;
    word(o.offset -
         storages_[static_cast<size_t>(where[i])].offset);  // whether it is the same as another of this storage
    for (int64_t extent : o.nest->shape) word(extent);
    for (int64_t stride : o.nest->strides[o.place]) word(stride);
  }
}

bool FusedKernel::elide(Storage* storage) {
  StorageUse* known = find(storage);
  known->elided = known->use == Use::each && known->written && known->offset == 0 &&
                  known->size * elements_ == static_cast<int64_t>(storage->bytes);
  return known->elided;
}

bool FusedKernel::may_share(Op&, const Storage* in, const Storage* out) const {
  const StorageUse *from = find(in), *to = find(out);
  auto whole = [&](const StorageUse* known) {
    return known->use == Use::each && known->offset == 0 &&
           known->size * elements_ == static_cast<int64_t>(known->storage->bytes);
  };
  return whole(from) && whole(to) && from->last_use <= to->first_write && !from->written;
}

bool may_share_operands(const Fusible& kernel, Op& op, const Storage* in, const Storage* out) {
  FusibleOperands part;
  kernel.fusible_operands(part);
  bool good = part.n == part.n_in + 1;
  for (int i = 0; i < part.n && good; ++i) {
    const FusibleOperands::Operand& o = part.operand[i];
    if (o.access < 0) continue;
    const Storage* s = op.access(o.access).storage;
    if (s != in && s != out) continue;
    good = !o.nest && o.offset == 0 &&
           part.elements * static_cast<int64_t>(item_size(o.dtype)) == static_cast<int64_t>(s->bytes) &&
           o.dtype == part.operand[part.n_in].dtype;
  }
  return good;
}

// --- plans -----------------------------------------------------------------------------------------------------------

class PlanMaker {
 public:
  explicit PlanMaker(const FusedKernel& group) : group_(group) {}
  std::shared_ptr<const Plan> make() {
    plan_->signature = group_.signature_;
    count_shared_inputs();
    choose_pitch();
    const int* where = group_.where_.data();
    for (const FusibleOperands& part : parts_) where = plan_->pitch ? add_pitched(part, where) : add_steps(part, where);
    join_pairs();
    place_values();
    return std::move(plan_);
  }

 private:
  struct Value {  // in scratch memory, from one step to another
    int64_t size;
    int from = -1, free_from = -1;  // steps: the first that uses it, and the first that may use its place
    int64_t offset = 0;
  };
  // Inputs whose elements do not follow one another, and that several steps walk in the same way: they are copied once
  // for all of them.
  struct SharedInput {
    const FusibleOperands::Operand* first;
    int where;
    int uses = 0, value = -1;
  };

  int new_value(int64_t size) {
    values_.push_back(Value{size});
    return static_cast<int>(values_.size()) - 1;
  }
  Plan::Operand nested(Plan::Operand place, const FusibleOperands::Operand& operand) {
    plan_->nests.push_back(std::make_unique<IterationSpace>(*operand.nest));
    place.nest = plan_->nests.back().get(), place.place = operand.place;
    return place;
  }
  void emit(const Plan::Step& step) {
    plan_->steps.push_back(step);
    for (int i = 0; i < step.n; ++i) plan_->steps.back().nested |= step.operands[i].nest != nullptr;
  }

  // The copies of storages in scratch memory that a plan with a pitch makes.
  struct Copied {
    const FusibleOperands::Operand* operand;
    int where, value;
  };

  void count_shared_inputs();
  bool has_pitch(const FusibleOperands::Operand& operand) const, repeats(const FusibleOperands::Operand& operand) const;
  void choose_pitch();
  int64_t gained() const;
  Plan::Operand placed(IterationSpace nest, const FusibleOperands::Operand& operand);
  Plan::Operand row_by_row(const FusibleOperands::Operand& operand, const IterationSpace* nest);
  Plan::Operand with_gaps(const FusibleOperands::Operand& operand);
  const Copied* copied(const FusibleOperands::Operand& operand, int where) const;
  void forget(int where);
  Plan::Operand pitched_input(const FusibleOperands::Operand& operand, int where);
  Plan::Operand elided_value(const FusibleOperands::Operand& operand, int where);
  bool add_pitched_copy(const FusibleOperands& part, const int* where);
  const int* add_pitched(const FusibleOperands& part, const int* where);
  SharedInput* shared_input_of(const FusibleOperands::Operand& operand, int where);
  const int* add_steps(const FusibleOperands& part, const int* where);
  static bool one_loop_walks(const Plan::Step& a, const Plan::Step& b);
  bool pair(size_t first, size_t second) const;
  void join_pairs();
  int64_t block_of(int64_t bytes) const, reduction_block_of(int64_t bytes) const;
  void place_values();

  const FusedKernel& group_;
  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  std::vector<Value> values_;
  std::vector<int> value_at_;   // of each storage: its value, if it is elided; -1: none yet
  std::vector<bool> streamed_;  // of each storage: it has been found in one piece
  std::vector<SharedInput> shared_inputs_;
  std::vector<Copied> copied_;
  std::vector<FusibleOperands> parts_;  // of the ops, in order
  int sources_ = 0, reductions_ = 0;
};

PlanMaker::SharedInput* PlanMaker::shared_input_of(const FusibleOperands::Operand& operand, int where) {
  for (SharedInput& shared : shared_inputs_) {
    if (shared.where == where && same_elements(*shared.first, operand)) return &shared;
  }
  return nullptr;
}

void PlanMaker::count_shared_inputs() {
  value_at_.assign(group_.storages_.size(), -1), streamed_.assign(group_.storages_.size(), false);
  parts_.resize(group_.ops_.size());
  const int* where = group_.where_.data();
  for (size_t k = 0; k < parts_.size(); ++k) {
    FusibleOperands& part = parts_[k];
    kernel_of(*group_.ops_[k]).fusible_operands(part);
    for (int i = 0; i < part.n; ++i, ++where) {
      const FusibleOperands::Operand& operand = part.operand[i];
      if (!operand.nest || i >= part.n_in || part.elements != group_.elements_ || group_.storages_[*where].written)
        continue;
      SharedInput* shared = shared_input_of(operand, *where);
      if (!shared) shared_inputs_.push_back({&operand, *where}), shared = &shared_inputs_.back();
      ++shared->uses;
    }
  }
}

// The op's loop, with casts and copies of operands before and after it.
const int* PlanMaker::add_steps(const FusibleOperands& part, const int* where) {
  Plan::Step step;
  step.loop = part.loop, step.n = part.n, step.n_in = part.n_in;
  step.of_rows = part.elements != group_.elements_;
  if (part.fold) step.fold = reductions_++;
  auto move = [&](const Plan::Operand& from, const Plan::Operand& to, DType a, DType b) {
    Plan::Step one = conversion(from, to, a, b);
    one.of_rows = step.of_rows;
    return one;
  };
  std::vector<Plan::Step> after;
  for (int i = 0; i < part.n; ++i, ++where) {
    const FusibleOperands::Operand& operand = part.operand[i];
    Plan::Operand& place = step.operands[i];
    if (operand.access < 0) {
      place.source = sources_++;
      continue;
    }
    const FusedKernel::StorageUse& known = group_.storages_[*where];
    place.size = static_cast<intptr_t>(item_size(operand.dtype));
    if (known.elided) {
      place = elided_value(operand, *where);
    } else {
      const bool walked = !operand.nest && !step.of_rows && !(part.fold && i >= part.n_in) && !streamed_[*where];
      if (walked) streamed_[*where] = true;
      if (walked && group_.elements_ * place.size >= kStreamBytes && plan_->streams.size() < kMostStreams)
        plan_->streams.push_back({sources_, place.size});
      place.source = sources_++;
    }
    if (operand.nest) place = nested(place, operand);
    SharedInput* shared =
        operand.nest && i < part.n_in && !step.of_rows && !known.written ? shared_input_of(operand, *where) : nullptr;
    if (shared && shared->uses > 1) {
      if (shared->value < 0) {
        Plan::Operand copy;
        copy.size = place.size, copy.value = shared->value = new_value(place.size);
        emit(move(place, copy, operand.dtype, operand.dtype));
      }
      place = Plan::Operand();
      place.size = static_cast<intptr_t>(item_size(operand.dtype)), place.value = shared->value;
    }
    // A loop whose last bits depend on strides gets its operands packed; a reduction, one after the other.
    intptr_t inner = operand.nest ? operand.nest->strides[operand.place].back() : place.size;
    bool pack = place.nest && ((part.loop.packed && inner != 0 && inner != place.size) || part.fold);
    if (operand.dtype == operand.loop_dtype && !pack) continue;
    Plan::Operand own;
    own.size = static_cast<intptr_t>(item_size(operand.loop_dtype));
    own.value = new_value(own.size);
    if (i < part.n_in)
      emit(move(place, own, operand.dtype, operand.loop_dtype));
    else
      after.push_back(move(own, place, operand.loop_dtype, operand.dtype));
    place = own;
  }
  emit(step);
  for (const Plan::Step& one : after) emit(one);
  return where;
}

// --- plans with a pitch ----------------------------------------------------------------------------------------------

// Whether rows are those of the plan, a pitch apart. The bytes between rows, over which loops run, are part of the
// array then.
bool PlanMaker::has_pitch(const FusibleOperands::Operand& operand) const {
  if (!operand.nest || operand.nest->shape.size() < 2 || operand.nest->shape.back() != plan_->row) return false;
  const auto size = static_cast<int64_t>(item_size(operand.dtype));
  const Dims& strides = operand.nest->strides[operand.place];
  const int last = strides.size() - 1;
  bool good = strides[last] == size && strides[last - 1] == plan_->pitch * size;
  for (int a = 0; a < last; ++a) good = good && strides[a] >= plan_->pitch * size;
  return good;
}

// Whether an operand of a nest is the same for several rows, so that it is for what lies between them.
bool PlanMaker::repeats(const FusibleOperands::Operand& operand) const {
  if (!operand.nest) return false;
  const Dims &shape = operand.nest->shape, &strides = operand.nest->strides[operand.place];
  const int last = shape.size() - 1;
  return strides[last] == 0 && (shape[last] > plan_->row || (last > 0 && strides[last - 1] == 0));
}

// How many copies of operands a plan with this pitch saves; less than none if there can be no such plan.
int64_t PlanMaker::gained() const {
  int64_t saved = 0;
  const int* where = group_.where_.data();
  for (const FusibleOperands& part : parts_)
    for (int i = 0; i < part.n; ++i, ++where) {
      const FusibleOperands::Operand& operand = part.operand[i];
      if (operand.access < 0) continue;
      if (operand.nest && (operand.nest->shape.back() % plan_->row != 0 || operand.nest->shape.size() == kMaxDims))
        return -1;
      if (group_.storages_[*where].elided) continue;
      saved += i < part.n_in && has_pitch(operand) ? 1 : operand.nest ? 0 : -1;
    }
  return saved;
}

// The pitch that saves most copies, if rows are so short that they are worth it, and little lies between them.
void PlanMaker::choose_pitch() {
  if (group_.reduction_ || !kMayPassRows) return;
  int64_t most = 0, row = 0, pitch = 0;
  for (const SharedInput& shared : shared_inputs_) {
    const Dims &shape = shared.first->nest->shape, &strides = shared.first->nest->strides[shared.first->place];
    if (shape.size() < 2 || shape.back() >= kLongRow) continue;
    plan_->row = shape.back();
    plan_->pitch = strides[shape.size() - 2] / static_cast<int64_t>(item_size(shared.first->dtype));
    if (plan_->pitch <= plan_->row || (plan_->pitch - plan_->row) * kRowsToGaps > plan_->row ||
        (plan_->row == row && plan_->pitch == pitch) || !has_pitch(*shared.first))
      continue;
    if (const int64_t saved = gained(); saved > most) most = saved, row = plan_->row, pitch = plan_->pitch;
  }
  plan_->row = row, plan_->pitch = pitch;
}

Plan::Operand PlanMaker::placed(IterationSpace nest, const FusibleOperands::Operand& operand) {
  plan_->nests.push_back(std::make_unique<IterationSpace>(std::move(nest)));
  Plan::Operand place;
  place.source = sources_++, place.size = static_cast<intptr_t>(item_size(operand.dtype));
  place.nest = plan_->nests.back().get();
  return place;
}

// The place of an operand in memory, in rows of the plan's length. nest: null if its elements follow one another.
Plan::Operand PlanMaker::row_by_row(const FusibleOperands::Operand& operand, const IterationSpace* nest) {
  const auto size = static_cast<int64_t>(item_size(operand.dtype));
  IterationSpace rows;
  rows.operands = 1;
  rows.shape = nest ? nest->shape : Dims{group_.elements_};
  rows.strides[0] = nest ? nest->strides[operand.place] : Dims{size};
  const int last = rows.shape.size() - 1;
  if (last == 0 || rows.shape[last] != plan_->row) {
    const int64_t step = rows.strides[0][last];
    rows.shape[last] /= plan_->row, rows.strides[0][last] *= plan_->row;
    rows.shape.push_back(plan_->row), rows.strides[0].push_back(step);
  }
  return placed(std::move(rows), operand);
}

// The place in memory of an operand of this pitch, or one that repeats, with the bytes between its rows.
Plan::Operand PlanMaker::with_gaps(const FusibleOperands::Operand& operand) {
  const Dims &shape = operand.nest->shape, &strides = operand.nest->strides[operand.place];
  const int axes = shape.size() - (shape.back() == plan_->row ? 1 : 0);
  IterationSpace whole;
  whole.operands = 1;
  whole.shape = Dims(shape.begin(), axes), whole.strides[0] = Dims(strides.begin(), axes);
  whole.shape[axes - 1] = product(shape) / product(Dims(shape.begin(), axes - 1)) / plan_->row * plan_->pitch;
  whole.strides[0][axes - 1] = strides.back();
  return placed(std::move(whole), operand);
}

const PlanMaker::Copied* PlanMaker::copied(const FusibleOperands::Operand& operand, int where) const {
  auto is = [&](const Copied& c) { return c.where == where && same_elements(*c.operand, operand); };
  auto at = std::find_if(copied_.begin(), copied_.end(), is);
  return at == copied_.end() ? nullptr : &*at;
}

void PlanMaker::forget(int where) {
  copied_.erase(std::remove_if(copied_.begin(), copied_.end(), [&](const Copied& c) { return c.where == where; }),
                copied_.end());
}

// An input from memory: in its own layout, or copied row by row, once for all steps that read it.
Plan::Operand PlanMaker::pitched_input(const FusibleOperands::Operand& operand, int where) {
  if (const Copied* known = copied(operand, where)) return ++sources_, in_scratch(known->value, operand.dtype);
  if (has_pitch(operand) || repeats(operand)) return with_gaps(operand);
  const Plan::Operand copy = in_scratch(new_value(static_cast<int64_t>(item_size(operand.dtype))), operand.dtype);
  emit(by_rows(row_by_row(operand, operand.nest), copy, operand.dtype));
  copied_.push_back({&operand, where, copy.value});
  return copy;
}

Plan::Operand PlanMaker::elided_value(const FusibleOperands::Operand& operand, int where) {
  int& value = value_at_[where];
  if (value < 0) value = new_value(static_cast<int64_t>(item_size(operand.dtype)));
  return in_scratch(value, operand.dtype);
}

// An op that only copies, to memory, needs no more than that. False: it is another.
bool PlanMaker::add_pitched_copy(const FusibleOperands& part, const int* where) {
  const FusibleOperands::Operand &from = part.operand[0], &to = part.operand[1];
  if (part.n != 2 || from.dtype != to.dtype || part.loop.function != cast_loop(from.dtype, to.dtype).function ||
      group_.storages_[where[1]].elided)
    return false;
  Plan::Operand source;
  const bool direct = from.access >= 0 && !group_.storages_[where[0]].elided && !copied(from, where[0]);
  const IterationSpace* nest = to.nest ? to.nest : direct ? from.nest : nullptr;  // of both, if both are in memory
  if (direct)
    source = row_by_row(from, nest);
  else if (from.access < 0)
    source.source = sources_++;
  else
    source = group_.storages_[where[0]].elided ? elided_value(from, where[0]) : pitched_input(from, where[0]);
  emit(by_rows(source, row_by_row(to, nest), to.dtype));
  forget(where[1]);
  return true;
}

// The op's loop from its block's first element to the last. Its results for memory are copied there, row by row.
const int* PlanMaker::add_pitched(const FusibleOperands& part, const int* where) {
  if (add_pitched_copy(part, where)) return where + part.n;
  Plan::Step step;
  step.loop = part.loop, step.n = part.n, step.n_in = part.n_in;
  std::vector<Plan::Step> after;
  for (int i = 0; i < part.n; ++i, ++where) {
    const FusibleOperands::Operand& operand = part.operand[i];
    Plan::Operand& place = step.operands[i];
    if (operand.access < 0) {
      place.source = sources_++;
      continue;
    }
    const bool elided = group_.storages_[*where].elided, in = i < part.n_in;
    place = elided ? elided_value(operand, *where)
            : in   ? pitched_input(operand, *where)
                   : in_scratch(new_value(static_cast<int64_t>(item_size(operand.dtype))), operand.dtype);
    const Plan::Operand stored = place;
    if (operand.dtype != operand.loop_dtype) {
      place = in_scratch(new_value(static_cast<int64_t>(item_size(operand.loop_dtype))), operand.loop_dtype);
      if (in)
        emit(conversion(stored, place, operand.dtype, operand.loop_dtype));
      else
        after.push_back(conversion(place, stored, operand.loop_dtype, operand.dtype));
    }
    if (in || elided) continue;
    after.push_back(by_rows(stored, row_by_row(operand, operand.nest), operand.dtype));
    forget(*where), copied_.push_back({&operand, *where, stored.value});
  }
  emit(step);
  for (const Plan::Step& one : after) emit(one);
  return where;
}

// --- pairs, and places -----------------------------------------------------------------------------------------------

// Whether one loop can walk the operands of both steps: in rows that are long enough to be walked one by one.
bool PlanMaker::one_loop_walks(const Plan::Step& a, const Plan::Step& b) {
  const Dims* shape = nullptr;
  bool good = true;
  auto check = [&](const Plan::Operand& place) {
    if (!place.nest) return;
    const int64_t inner = place.nest->strides[place.place].back();
    good = good && (inner == 0 || inner == place.size) && place.nest->shape.back() >= kLongRow &&
           (!shape || *shape == place.nest->shape);
    shape = &place.nest->shape;
  };
  std::for_each_n(a.operands, a.n, check), std::for_each_n(b.operands, b.n, check);
  return good;
}

// Whether the second step may do the work of the first, too: nothing between them writes what the first reads. Arrays
// of different storages may share memory, if one ends before the other is written (BufferReuse).
bool PlanMaker::pair(size_t first, size_t second) const {
  const Plan::Step &a = plan_->steps[first], &b = plan_->steps[second];
  if (a.loop.arithmetic == Arithmetic::none || a.loop.arithmetic_dtype != b.loop.arithmetic_dtype) return false;
  auto one = [](const Plan::Operand& place) {
    return place.nest ? place.nest->strides[place.place].back() == 0 : place.size == 0;
  };
  if (a.of_rows || b.of_rows || !one_loop_walks(a, b) || (one(a.operands[0]) && one(a.operands[a.n_in - 1])))
    return false;
  for (size_t s = first + 1; s < second; ++s) {
    const Plan::Step& step = plan_->steps[s];
    for (int out = step.n_in; out < step.n; ++out)
      for (int in = 0; in < a.n_in; ++in)
        if (step.operands[out].value < 0 ? a.operands[in].value < 0 && a.operands[in].size != 0
                                         : step.operands[out].value == a.operands[in].value)
          return false;
  }
  return true;
}

// Two steps of plain arithmetic become one where no other step reads the value between them: it stays in registers.
void PlanMaker::join_pairs() {
  std::vector<Plan::Step>& steps = plan_->steps;
  std::vector<int> writes(values_.size()), reads(values_.size()), writer(values_.size(), -1);
  for (const Plan::Step& step : steps)
    for (int i = 0; i < step.n; ++i)
      if (int v = step.operands[i].value; v >= 0) ++(i < step.n_in ? reads : writes)[v];
  std::vector<bool> gone(steps.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    Plan::Step& step = steps[s];
    bool joined = false;
    for (int i = 0; step.loop.arithmetic != Arithmetic::none && i < step.n_in && !joined; ++i) {
      int v = step.operands[i].value;
      if (v < 0 || writes[v] != 1 || reads[v] != 1 || writer[v] < 0 || !pair(static_cast<size_t>(writer[v]), s))
        continue;
      const Plan::Step& before = steps[writer[v]];
      Plan::Step both;
      both.loop = pair_loop(before.loop, step.loop, i == 0);
      both.operands[0] = before.operands[0], both.operands[1] = before.operands[before.n_in - 1], both.n_in = 2;
      if (step.n_in == 2) both.operands[both.n_in++] = step.operands[1 - i];
      both.operands[both.n_in] = step.operands[step.n_in], both.n = both.n_in + 1;
      both.nested = before.nested || step.nested;
      gone[writer[v]] = true;
      step = both;
      joined = true;
    }
    for (int i = step.n_in; i < step.n; ++i)
      if (int v = step.operands[i].value; v >= 0) writer[v] = static_cast<int>(s);
  }
  size_t kept = 0;
  for (size_t s = 0; s < steps.size(); ++s)
    if (!gone[s]) steps[kept++] = steps[s];
  steps.resize(kept);
}

// Elements of a block, if each of them takes so many bytes of values. A block has whole rows of the iteration space, if
// all of its rows have one length; and whole vectors, if it can.
int64_t PlanMaker::block_of(int64_t bytes) const {
  int64_t block = kBlock, row = 1;
  while (block > kLeastBlock && block * bytes > kNearBytes) block /= 2;
  if (plan_->pitch) return std::max<int64_t>(1, block / plan_->pitch) * plan_->row;
  for (const auto& nest : plan_->nests) {
    const int64_t own = nest->shape.back();
    if (own == row || nest->shape.size() == 1) continue;
    if (row > 1 || own > block) return block;
    row = own;
  }
  const int64_t whole = std::lcm(row, kVector);
  return whole <= block ? block / whole * whole : block / row * row;
}

// The same where there are reductions. Those of rows come out alike however many rows a block has, if they are whole.
int64_t PlanMaker::reduction_block_of(int64_t bytes) const {
  const BlockedReduction& fold = *group_.reduction_;
  const int64_t least = fold.range(0).block;
  if (!fold.by_rows()) return std::max(kBlock, least);
  if (!plan_->streams.empty()) return least;  // so that what is fetched for the next block is still near then
  return std::max(least, std::min(kMostBlock, kReductionBytes / std::max<int64_t>(bytes, 1)) / fold.row_length() *
                             fold.row_length());
}

// Gives values that live at different times the same place.
void PlanMaker::place_values() {
  for (size_t now = 0; now < plan_->steps.size(); ++now) {
    const Plan::Step& step = plan_->steps[now];
    for (int i = 0; i < step.n; ++i) {
      if (step.operands[i].value < 0) continue;
      Value& value = values_[step.operands[i].value];
      if (value.from < 0) value.from = static_cast<int>(now);
      // A step may write where it reads for the last time: its loop sees the same elements at the same place. Two of
      // its results may not share one, though the first may not be read.
      value.free_from = static_cast<int>(now) + (i < step.n_in ? 0 : 1);
    }
  }
  struct Room {
    int64_t size;
    int free_from;  // step
    int64_t offset = 0;
  };
  std::vector<Room> rooms;
  std::vector<size_t> room_of(values_.size());
  std::vector<size_t> order;
  for (size_t v = 0; v < values_.size(); ++v)
    if (values_[v].from >= 0) order.push_back(v);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(values_[a].from, a) < std::pair(values_[b].from, b); });
  int64_t bytes = 0;  // of an element of all rooms
  for (size_t v : order) {
    const Value& value = values_[v];
    size_t found = rooms.size();
    for (size_t r = rooms.size(); r-- > 0 && found == rooms.size();)  // the one that was used last: it is still near
      if (rooms[r].size == value.size && rooms[r].free_from <= value.from) found = r;
    if (found == rooms.size()) rooms.push_back({value.size, 0}), bytes += value.size;
    rooms[found].free_from = value.free_from;
    room_of[v] = found;
  }
  plan_->block = group_.reduction_ ? reduction_block_of(bytes) : block_of(bytes);
  const int64_t length = plan_->pitch ? plan_->block / plan_->row * plan_->pitch : plan_->block;
  int64_t end = 0;
  for (Room& room : rooms) {
    room.offset = end;
    end += (length * room.size + kApart + 63) / 64 * 64;
  }
  plan_->scratch_bytes = static_cast<size_t>(end);
  for (Plan::Step& step : plan_->steps)
    for (int i = 0; i < step.n; ++i)
      if (step.operands[i].value >= 0) step.operands[i].offset = rooms[room_of[step.operands[i].value]].offset;
}

namespace {

// Plans by their signature. Any thread.
class Plans {
 public:
  static constexpr size_t kMost = 1024;

  std::shared_ptr<const Plan> get(const FusedKernel& group, const std::vector<uint64_t>& signature) {
    uint64_t hash = 0;
    for (uint64_t word : signature) hash = (hash ^ word) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
    {
      std::lock_guard held(mutex_);
      auto at = plans_.find(hash);
      if (at != plans_.end() && at->second->signature == signature) {
        ++stats_.reused;
        return at->second;
      }
    }
    std::shared_ptr<const Plan> made = PlanMaker(group).make();
    std::lock_guard held(mutex_);
    if (plans_.size() >= kMost) plans_.clear();  // a program that never repeats itself
    plans_[hash] = made;
    ++stats_.made;
    return made;
  }
  PlanStats stats() {
    std::lock_guard held(mutex_);
    return stats_;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<const Plan>> plans_;  // guarded by mutex_
  PlanStats stats_{};
};

Plans& plans() {
  static Plans* all = new Plans;  // never destroyed: workers may outlive static destructors
  return *all;
}

}  // namespace

PlanStats plan_stats() { return plans().stats(); }

// --- running ---------------------------------------------------------------------------------------------------------

void FusedKernel::prepare(Op&) {
  uint64_t elided = 0;
  for (const StorageUse& known : storages_) {
    elided = elided << 1 | known.elided;
    if ((&known - storages_.data()) % 64 == 63) signature_.push_back(std::exchange(elided, 0));
  }
  signature_.push_back(elided);
  plan_ = plans().get(*this, signature_);
  const int* where = where_.data();
  for (Op* op : ops_) {
    FusibleOperands part;
    kernel_of(*op).fusible_operands(part);
    for (int i = 0; i < part.n; ++i, ++where) {
      const FusibleOperands::Operand& o = part.operand[i];
      if (o.access < 0)
        sources_.push_back(const_cast<char*>(reinterpret_cast<const char*>(o.scalar->bytes)));
      else if (const StorageUse& known = storages_[*where]; !known.elided)
        sources_.push_back(static_cast<Buffer*>(known.storage)->data() + o.offset);
    }
    if (!part.fold) continue;
    reductions_.push_back(part.fold);
    partials_.push_back(part.fold->partial());
    results_.push_back(sources_.back());
  }
}

namespace {

// Fetches lines of the next block, some beside each step but the first, which waits for memory itself.
class Ahead {
 public:
  Ahead(const Plan& plan, const std::vector<char*>& sources, int64_t at, int64_t n) {
    const auto steps = static_cast<int64_t>(plan.steps.size()) - 1;
    if (at < 0 || steps < 2 || plan.streams.empty()) return;  // with fewer steps nothing is there to do beside them
    for (const Plan::Stream& s : plan.streams)
      from_[streams_] = sources[static_cast<size_t>(s.source)] + at * s.size, left_[streams_++] = n * s.size;
    share_ = std::max(kLeastAhead, ceil_div(*std::max_element(left_, left_ + streams_), steps * kLine) * kLine);
  }
  void fetch() {
    if (streams_ == 0 || std::exchange(first_, false)) return;
    bool more = false;
    for (int i = 0; i < streams_; ++i) {
      const int64_t bytes = std::min(share_, left_[i]);
      for (int64_t b = 0; b < bytes; b += kLine) __builtin_prefetch(from_[i] + b);
      from_[i] += bytes, left_[i] -= bytes, more = more || left_[i] > 0;
    }
    if (!more) streams_ = 0;
  }

 private:
  int streams_ = 0;
  bool first_ = true;
  int64_t share_ = 0;  // bytes of each stream that are fetched beside a step
  const char* from_[kMostStreams];
  int64_t left_[kMostStreams];
};

}  // namespace

void FusedKernel::run(Op&, int64_t tile) {
  char* memory = scratch(plan_->scratch_bytes);
  for (size_t i = 0; i < reductions_.size(); ++i) reductions_[i]->begin(tile, results_[i], partials_[i].get());
  const int64_t of_tile = tile_elements();
  Range range = reduction_ ? reduction_->range(tile)
                           : Range{tile * of_tile, std::min(of_tile, elements_ - tile * of_tile), 0, 1, plan_->block};
  if (reduction_ && reduction_->by_rows()) range.block = plan_->block;
  Range block{0, 0};  // that is next
  each_block(range, [&](int64_t at, int64_t n) {
    if (block.length > 0) run_block(tile, block.start, block.length, at, memory);
    block.start = at, block.length = n;
  });
  if (block.length > 0) run_block(tile, block.start, block.length, -1, memory);
  for (size_t i = 0; i < reductions_.size(); ++i) reductions_[i]->end(results_[i], partials_[i].get());
}

// next: where the next block starts, or -1.
void FusedKernel::run_block(int64_t tile, int64_t at, int64_t n, int64_t next, char* memory) const {
  Ahead ahead(*plan_, sources_, next, n);
  for (const Plan::Step& step : plan_->steps) {
    ahead.fetch();
    int64_t first = at;
    intptr_t count = n;
    if (step.of_rows) first /= reduction_->row_length(), count /= reduction_->row_length();
    if (plan_->pitch && !step.apart)  // to the last element of the last row
      first = at / plan_->row * plan_->pitch, count = (n / plan_->row - 1) * plan_->pitch + plan_->row;
    char* args[IterationSpace::kMaxOperands];
    intptr_t steps[IterationSpace::kMaxOperands];
    for (int i = 0; i < step.n; ++i) {
      const Plan::Operand& place = step.operands[i];
      steps[i] = place.size;
      args[i] =
          place.value >= 0 ? memory + place.offset : sources_[place.source] + (place.nest ? 0 : first * place.size);
    }
    if (step.fold >= 0)
      reductions_[step.fold]->fold(tile, at, n, args[0], results_[step.fold], partials_[step.fold].get());
    else if (step.nested)
      run_strided(step, args, steps, first, count);
    else
      step.loop.function(args, &count, steps, step.loop.data);
  }
}

void FusedKernel::run_strided(const Plan::Step& step, char** args, const intptr_t* steps, int64_t at, int64_t n) const {
  const Dims* shape = nullptr;
  const Dims* strides[IterationSpace::kMaxOperands] = {};
  for (int i = 0; i < step.n; ++i) {
    const Plan::Operand& place = step.operands[i];
    if (!place.nest) continue;
    shape = &place.nest->shape;
    strides[i] = &place.nest->strides[place.place];
  }
  loop_over(step.loop, step.n, *shape, strides, args, steps, at, n, step.apart ? plan_->pitch : 0);
}

}  // namespace forerun
