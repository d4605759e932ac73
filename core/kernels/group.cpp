#include "kernels/group.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "kernels/scratch.h"

namespace forerun {

Group* Fusible::new_group(Op& op) const {
  auto group = std::make_unique<FusedKernel>();
  group->reserve();
  return group->add(op) ? group.release() : nullptr;
}

namespace {

constexpr size_t kMostOps = 32;
// Longer than a page by some lines: values that start at the same place of a page get into each other's way.
constexpr int64_t kApart = 192;

const Fusible& kernel_of(const Op& op) { return static_cast<const Fusible&>(*op.kernel()); }

// Whether an operand of a nest has the same value for a whole row, and rows follow one another.
bool repeats_rows(const Part::Operand& operand, int64_t row_length, int64_t size) {
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

// --- which ops go together ----------------------------------------------------------------------------------------------------

const FusedKernel::Held* FusedKernel::find(const Storage* storage) const {
  for (const Held& held : held_)
    if (held.storage == storage) return &held;
  return nullptr;
}

FusedKernel::Use FusedKernel::use_of(const Part& part, const Part::Operand& operand) const {
  bool of_rows = part.elements != elements_;
  int64_t size = static_cast<int64_t>(item_size(operand.dtype));
  if (part.fold && &operand == &part.operand[1]) return part.fold->by_rows() ? Use::row : Use::total;
  if (!operand.nest) return of_rows ? Use::row : Use::each;
  if (!of_rows && fold_ && fold_->by_rows() && repeats_rows(operand, fold_->row_length(), size)) return Use::row;
  return Use::other;
}

bool FusedKernel::add(Op& op) {
  Part part;
  if (ops_.size() == kMostOps || !kernel_of(op).part(part)) return false;
  if (ops_.empty()) elements_ = part.elements;
  bool of_rows = part.elements != elements_;
  if (of_rows && (!fold_ || !fold_->by_rows() || part.fold || part.elements != fold_->rows())) return false;
  if (part.fold && fold_ && !part.fold->same_tiles(*fold_)) return false;
  const Fold* before = fold_;
  if (part.fold && !fold_) fold_ = part.fold;
  Use uses[Nest::kMaxOperands];
  int where[Nest::kMaxOperands];  // in held_, or -1
  bool fits = true;
  for (int i = 0; i < part.n && fits; ++i) {
    const Part::Operand& operand = part.operand[i];
    where[i] = -1;
    if (operand.access < 0) continue;
    uses[i] = use_of(part, operand);
    const Held* held = find(op.access(operand.access).storage);
    if (!held) continue;
    where[i] = static_cast<int>(held - held_.data());
    if (!held->written && i < part.n_in) continue;
    fits = held->use == uses[i] && held->use < Use::other && held->offset == operand.offset && held->size == static_cast<int64_t>(item_size(operand.dtype));
  }
  if (!fits) {
    fold_ = before;
    return false;
  }
  for (int i = 0; i < part.n; ++i) {
    const Part::Operand& operand = part.operand[i];
    if (operand.access < 0) continue;
    Storage* storage = op.access(operand.access).storage;
    auto size = static_cast<int64_t>(item_size(operand.dtype));
    bool writes = i >= part.n_in;
    for (int k = 0; k < i && where[i] < 0; ++k)
      if (part.operand[k].access >= 0 && op.access(part.operand[k].access).storage == storage) where[i] = where[k];
    if (where[i] < 0) {
      where[i] = static_cast<int>(held_.size());
      held_.push_back({storage, uses[i], writes, false, operand.offset, size, ops_.size(), ops_.size()});
      continue;
    }
    Held& held = held_[where[i]];
    held.last_use = ops_.size();
    if (writes && !held.written) held.first_write = ops_.size();
    if (held.use != uses[i] || held.offset != operand.offset || held.size != size) held.use = Use::other;
    held.written = held.written || writes;
  }
  ops_.push_back(&op);
  sign(part, where);
  return true;
}

// Two groups of the same signature do the same with their operands.
void FusedKernel::sign(const Part& part, const int* where) {
  auto word = [&](auto value) { signature_.push_back(static_cast<uint64_t>(value)); };
  word(reinterpret_cast<uintptr_t>(part.loop.function));
  word(reinterpret_cast<uintptr_t>(part.loop.data));
  word(part.elements);
  word(part.n << 16 | part.n_in << 8 | part.loop.packed << 1 | (part.fold != nullptr));
  if (part.fold) word(part.fold->rows()), word(part.fold->row_length());
  for (int i = 0; i < part.n; ++i) {
    const Part::Operand& o = part.operand[i];
    word(static_cast<uint64_t>(where[i] + 1) << 32 | static_cast<uint64_t>(o.dtype) << 16 | static_cast<uint64_t>(o.loop_dtype) << 8 | (o.nest ? o.nest->shape.size() : 0));
    if (!o.nest) continue;
    for (int64_t extent : o.nest->shape) word(extent);
    for (int64_t stride : o.nest->strides[o.place]) word(stride);
  }
}

bool FusedKernel::elide(Storage* storage) {
  Held* held = find(storage);
  held->elided = held->use == Use::each && held->written && held->offset == 0 && held->size * elements_ == static_cast<int64_t>(storage->bytes);
  return held->elided;
}

bool FusedKernel::may_share(Op&, const Storage* in, const Storage* out) const {
  const Held *from = find(in), *to = find(out);
  auto whole = [&](const Held* held) { return held->use == Use::each && held->offset == 0 && held->size * elements_ == static_cast<int64_t>(held->storage->bytes); };
  return whole(from) && whole(to) && from->last_use <= to->first_write && !from->written;
}

bool may_share_part(const Fusible& kernel, Op& op, const Storage* in, const Storage* out) {
  Part part;
  kernel.part(part);
  bool good = part.n == part.n_in + 1;
  for (int i = 0; i < part.n && good; ++i) {
    const Part::Operand& o = part.operand[i];
    if (o.access < 0) continue;
    const Storage* s = op.access(o.access).storage;
    if (s != in && s != out) continue;
    good = !o.nest && o.offset == 0 && part.elements * static_cast<int64_t>(item_size(o.dtype)) == static_cast<int64_t>(s->bytes) && o.dtype == part.operand[part.n_in].dtype;
  }
  return good;
}

// --- plans ---------------------------------------------------------------------------------------------------------------------

class PlanMaker {
 public:
  explicit PlanMaker(const FusedKernel& group) : group_(group) {}
  std::shared_ptr<const Plan> make() {
    plan_->signature = group_.signature_;
    if (group_.fold_) plan_->block = std::max(kBlock, group_.fold_->range(0).block);
    for (Op* op : group_.ops_) add_steps(*op);
    place_values();
    return std::move(plan_);
  }

 private:
  struct Value {  // in scratch memory, from one step to another
    const Storage* storage;
    int64_t size;
    int from = -1, free_from = -1;  // steps: the first that uses it, and the first that may use its place
    int64_t offset = 0;
  };

  int value_of(const Storage* storage, int64_t size) {
    for (size_t i = 0; storage && i < values_.size(); ++i)
      if (values_[i].storage == storage) return static_cast<int>(i);
    values_.push_back(Value{storage, size});
    return static_cast<int>(values_.size()) - 1;
  }

  void emit(const Plan::Step& step) {
    int now = static_cast<int>(plan_->steps.size());
    plan_->steps.push_back(step);
    for (int i = 0; i < step.n; ++i) {
      const Plan::Place& place = step.place[i];
      if (place.nest) plan_->steps.back().nested = true;
      if (place.value < 0) continue;
      Value& value = values_[place.value];
      if (value.from < 0) value.from = now;
      // A step may write where it reads for the last time: its loop sees the same elements at the same place. Two of its
      // results may not share one, though nobody may read the first.
      value.free_from = i < step.n_in ? now : now + 1;
    }
  }

  void add_steps(Op& op);
  void place_values();

  const FusedKernel& group_;
  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  std::vector<Value> values_;
  int sources_ = 0, folds_ = 0;
};

// The op's loop, with casts of operands before and after it.
void PlanMaker::add_steps(Op& op) {
  Part part;
  kernel_of(op).part(part);
  Plan::Step step;
  step.loop = part.loop, step.n = part.n, step.n_in = part.n_in;
  step.of_rows = part.elements != group_.elements_;
  if (part.fold) step.fold = folds_++;
  auto move = [&](const Plan::Place& from, const Plan::Place& to, DType a, DType b) {
    Plan::Step one;
    one.loop = cast_loop(a, b), one.n = 2, one.n_in = 1, one.of_rows = step.of_rows;
    one.place[0] = from, one.place[1] = to;
    return one;
  };
  std::vector<Plan::Step> after;
  for (int i = 0; i < part.n; ++i) {
    const Part::Operand& operand = part.operand[i];
    Plan::Place& place = step.place[i];
    if (operand.access < 0) {
      place.source = sources_++;
      continue;
    }
    const Storage* storage = op.access(operand.access).storage;
    place.size = static_cast<intptr_t>(item_size(operand.dtype));
    if (group_.find(storage)->elided)
      place.value = value_of(storage, place.size);
    else
      place.source = sources_++;
    if (operand.nest) {
      plan_->nests.push_back(std::make_unique<Nest>(*operand.nest));
      place.nest = plan_->nests.back().get(), place.place = operand.place;
    }
    // A loop whose last bits depend on strides gets its operands packed; a reduction, one after the other.
    intptr_t inner = operand.nest ? operand.nest->strides[operand.place].back() : place.size;
    bool pack = operand.nest && ((part.loop.packed && inner != 0 && inner != place.size) || part.fold);
    if (operand.dtype == operand.loop_dtype && !pack) continue;
    Plan::Place own;
    own.size = static_cast<intptr_t>(item_size(operand.loop_dtype));
    own.value = value_of(nullptr, own.size);
    if (i < part.n_in)
      emit(move(place, own, operand.dtype, operand.loop_dtype));
    else
      after.push_back(move(own, place, operand.loop_dtype, operand.dtype));
    place = own;
  }
  emit(step);
  for (const Plan::Step& one : after) emit(one);
}

// Gives values that live at different times the same place.
void PlanMaker::place_values() {
  struct Room {
    int64_t offset, bytes;
    int free_from;  // step
  };
  std::vector<Room> rooms;
  std::vector<Value*> order;
  for (Value& value : values_) order.push_back(&value);
  std::sort(order.begin(), order.end(), [](Value* a, Value* b) { return a->from < b->from; });
  int64_t end = 0;
  for (Value* value : order) {
    int64_t bytes = plan_->block * value->size;
    Room* found = nullptr;
    for (Room& room : rooms)
      if (room.bytes == bytes && room.free_from <= value->from) found = &room;
    if (!found) {
      rooms.push_back({end, bytes, 0});
      end += (bytes + kApart + 63) / 64 * 64;
      found = &rooms.back();
    }
    found->free_from = value->free_from;
    value->offset = found->offset;
  }
  plan_->scratch_bytes = static_cast<size_t>(end);
  for (Plan::Step& step : plan_->steps)
    for (int i = 0; i < step.n; ++i)
      if (step.place[i].value >= 0) step.place[i].offset = values_[step.place[i].value].offset;
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

// --- running ---------------------------------------------------------------------------------------------------------------------

void FusedKernel::prepare(Op&) {
  uint64_t elided = 0;
  for (const Held& held : held_) {
    elided = elided << 1 | held.elided;
    if ((&held - held_.data()) % 64 == 63) signature_.push_back(std::exchange(elided, 0));
  }
  signature_.push_back(elided);
  plan_ = plans().get(*this, signature_);
  for (Op* op : ops_) {
    Part part;
    kernel_of(*op).part(part);
    for (int i = 0; i < part.n; ++i) {
      const Part::Operand& o = part.operand[i];
      if (o.access < 0) {
        sources_.push_back(const_cast<char*>(reinterpret_cast<const char*>(o.scalar->bytes)));
      } else if (Storage* storage = op->access(o.access).storage; !find(storage)->elided) {
        sources_.push_back(static_cast<Buffer*>(storage)->data() + o.offset);
      }
    }
    if (!part.fold) continue;
    folds_.push_back(part.fold);
    partials_.push_back(part.fold->partial());
    results_.push_back(sources_.back());
  }
}

void FusedKernel::run(Op&, int64_t tile) {
  char* memory = scratch(plan_->scratch_bytes);
  for (size_t i = 0; i < folds_.size(); ++i) folds_[i]->begin(tile, results_[i], partials_[i].get());
  Range range = fold_ ? fold_->range(tile) : Range{tile * kTileElements, std::min(kTileElements, elements_ - tile * kTileElements), 0, 1, kBlock};
  each_block(range, [&](int64_t at, int64_t n) { run_block(tile, at, n, memory); });
  for (size_t i = 0; i < folds_.size(); ++i) folds_[i]->end(results_[i], partials_[i].get());
}

void FusedKernel::run_block(int64_t tile, int64_t at, int64_t n, char* memory) const {
  for (const Plan::Step& step : plan_->steps) {
    int64_t first = at;
    intptr_t count = n;
    if (step.of_rows) first /= fold_->row_length(), count /= fold_->row_length();
    char* args[Nest::kMaxOperands];
    intptr_t steps[Nest::kMaxOperands];
    for (int i = 0; i < step.n; ++i) {
      const Plan::Place& place = step.place[i];
      steps[i] = place.size;
      args[i] = place.value >= 0 ? memory + place.offset : sources_[place.source] + (place.nest ? 0 : first * place.size);
    }
    if (step.fold >= 0)
      folds_[step.fold]->fold(tile, at, n, args[0], results_[step.fold], partials_[step.fold].get());
    else if (step.nested)
      run_nested(step, args, steps, first, count);
    else
      step.loop.function(args, &count, steps, step.loop.data);
  }
}

void FusedKernel::run_nested(const Plan::Step& step, char** args, const intptr_t* steps, int64_t at, int64_t n) const {
  const Dims* shape = nullptr;
  const Dims* strides[Nest::kMaxOperands] = {};
  for (int i = 0; i < step.n; ++i) {
    const Plan::Place& place = step.place[i];
    if (!place.nest) continue;
    shape = &place.nest->shape;
    strides[i] = &place.nest->strides[place.place];
  }
  walk_nest(step.loop, step.n, *shape, strides, args, steps, at, n);
}

}  // namespace forerun
