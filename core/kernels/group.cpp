#include "kernels/group.h"

#include <algorithm>

#include "kernels/scratch.h"

namespace forerun {

Group* Fusible::new_group(Op& op) const {
  auto group = std::make_unique<FusedKernel>();
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
  int axis = operand.shape->size() - 1;
  for (; axis >= 0 && inner < row_length; --axis) {
    if ((*operand.strides)[axis] != 0) return false;
    inner *= (*operand.shape)[axis];
  }
  if (inner != row_length) return false;
  for (int64_t step = size; axis >= 0; --axis) {
    if ((*operand.strides)[axis] != step) return false;
    step *= (*operand.shape)[axis];
  }
  return true;
}

}  // namespace

// --- which ops go together ----------------------------------------------------------------------------------------------------

FusedKernel::Held* FusedKernel::find(const Storage* storage) {
  for (Held& held : held_)
    if (held.storage == storage) return &held;
  return nullptr;
}

FusedKernel::Use FusedKernel::use_of(const Part& part, const Part::Operand& operand) const {
  bool of_rows = part.elements != elements_;
  int64_t size = static_cast<int64_t>(item_size(operand.dtype));
  if (part.fold && &operand == &part.operand[1]) return part.fold->by_rows() ? Use::row : Use::total;
  if (operand.dense) return of_rows ? Use::row : Use::each;
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
  bool fits = true;
  for (int i = 0; i < part.n && fits; ++i) {
    const Part::Operand& operand = part.operand[i];
    if (operand.access < 0) continue;
    uses[i] = use_of(part, operand);
    bool writes = i >= part.n_in;
    const Held* held = find(op.access(operand.access).storage);
    if (!held || (!held->written && !writes)) continue;
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
    Held* held = find(storage);
    if (!held) {
      held_.push_back({storage, uses[i], i >= part.n_in, false, operand.offset, size});
      continue;
    }
    if (held->use != uses[i] || held->offset != operand.offset || held->size != size) held->use = Use::other;
    held->written = held->written || i >= part.n_in;
  }
  ops_.push_back(&op);
  return true;
}

bool FusedKernel::elide(Storage* storage) {
  Held* held = find(storage);
  held->elided = held->use == Use::each && held->written && held->offset == 0 && held->size * elements_ == static_cast<int64_t>(storage->bytes);
  return held->elided;
}

// --- what is run ------------------------------------------------------------------------------------------------------------------

int FusedKernel::value_of(Storage* storage, int64_t size) {
  if (storage)
    for (size_t i = 0; i < values_.size(); ++i)
      if (values_[i].storage == storage) return static_cast<int>(i);
  values_.push_back(Value{storage, size});
  return static_cast<int>(values_.size()) - 1;
}

void FusedKernel::emit(Step step) {
  int now = static_cast<int>(steps_.size());
  for (int i = 0; i < step.n; ++i) {
    step.nested = step.nested || step.place[i].shape;
    if (step.place[i].value < 0) continue;
    Value& value = values_[step.place[i].value];
    if (value.from < 0) value.from = now;
    // A step may write where it reads for the last time: its loop sees the same elements at the same place. Two of its results may not
    // share one, though nobody may read the first.
    value.free_from = i < step.n_in ? now : now + 1;
  }
  steps_.push_back(step);
}

// The op's loop, with casts of operands before and after it.
void FusedKernel::add_steps(Op& op) {
  Part part;
  kernel_of(op).part(part);
  Step step;
  step.loop = part.loop, step.fold = part.fold, step.n = part.n, step.n_in = part.n_in;
  step.of_rows = part.elements != elements_;
  auto move = [&](const Place& from, const Place& to, DType a, DType b) {
    Step one;
    one.loop = cast_loop(a, b), one.n = 2, one.n_in = 1, one.of_rows = step.of_rows;
    one.place[0] = from, one.place[1] = to;
    emit(one);
  };
  Step after[Nest::kMaxOperands];
  int n_after = 0;
  for (int i = 0; i < part.n; ++i) {
    const Part::Operand& operand = part.operand[i];
    Place& place = step.place[i];
    if (operand.access < 0) {
      place.base = const_cast<char*>(reinterpret_cast<const char*>(operand.scalar->bytes));
      continue;
    }
    Storage* storage = op.access(operand.access).storage;
    place.size = static_cast<intptr_t>(item_size(operand.dtype));
    if (find(storage)->elided)
      place.value = value_of(storage, place.size);
    else
      place.base = static_cast<Buffer*>(storage)->data() + operand.offset;
    if (!operand.dense) place.shape = operand.shape, place.strides = operand.strides;
    bool cast = operand.dtype != operand.loop_dtype;
    // A loop whose last bits depend on strides gets its operands packed; a reduction, one after the other.
    intptr_t inner = operand.dense ? place.size : operand.strides->back();
    bool pack = !operand.dense && ((part.loop.packed && inner != 0 && inner != place.size) || part.fold);
    if (!cast && !pack) continue;
    Place own;
    own.size = static_cast<intptr_t>(item_size(operand.loop_dtype));
    own.value = value_of(nullptr, own.size);
    if (i < part.n_in) {
      move(place, own, operand.dtype, operand.loop_dtype);
    } else {
      Step& one = after[n_after++];
      one.loop = cast_loop(operand.loop_dtype, operand.dtype), one.n = 2, one.n_in = 1, one.of_rows = step.of_rows;
      one.place[0] = own, one.place[1] = place;
    }
    place = own;
  }
  if (part.fold) {
    partials_.push_back(part.fold->partial());
    step.partial = partials_.back().get();
  }
  emit(step);
  for (int i = 0; i < n_after; ++i) emit(after[i]);
}

// Gives values that live at different times the same place.
void FusedKernel::place_values() {
  struct Room {
    int64_t offset, bytes;
    int free_from;  // step
  };
  std::vector<Room> rooms;
  std::vector<int> order(values_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return values_[a].from < values_[b].from; });
  int64_t end = 0;
  for (int i : order) {
    Value& value = values_[i];
    int64_t bytes = block_ * value.size;
    Room* found = nullptr;
    for (Room& room : rooms)
      if (room.bytes == bytes && room.free_from <= value.from) found = &room;
    if (!found) {
      rooms.push_back({end, bytes, 0});
      end += (bytes + kApart + 63) / 64 * 64;
      found = &rooms.back();
    }
    found->free_from = value.free_from;
    value.offset = found->offset;
  }
  scratch_bytes_ = static_cast<size_t>(end);
}

void FusedKernel::prepare(Op&) {
  if (fold_) {
    Range range = fold_->range(0);
    block_ = std::max(kBlock, range.grain);
  }
  for (Op* op : ops_) add_steps(*op);
  place_values();
  for (Step& step : steps_)
    for (int i = 0; i < step.n; ++i)
      if (step.place[i].value >= 0) step.place[i].offset = values_[step.place[i].value].offset;
}

void FusedKernel::run(Op&, int64_t tile) {
  char* memory = scratch(scratch_bytes_);
  for (const Step& step : steps_)
    if (step.fold) step.fold->begin(tile, step.place[1].base, step.partial);
  Range range = fold_ ? fold_->range(tile) : Range{tile * kTileElements, std::min(kTileElements, elements_ - tile * kTileElements), 0, 1, 1};
  each_block(range, [&](int64_t at, int64_t n) { run_block(tile, at, n, memory); });
  for (const Step& step : steps_)
    if (step.fold) step.fold->end(step.place[1].base, step.partial);
}

void FusedKernel::run_block(int64_t tile, int64_t at, int64_t n, char* memory) const {
  for (const Step& step : steps_) {
    int64_t first = at;
    intptr_t count = n;
    if (step.of_rows) first /= fold_->row_length(), count /= fold_->row_length();
    char* args[Nest::kMaxOperands];
    intptr_t steps[Nest::kMaxOperands];
    for (int i = 0; i < step.n; ++i) {
      const Place& place = step.place[i];
      steps[i] = place.size;
      args[i] = place.value >= 0 ? memory + place.offset : place.shape ? place.base : place.base + first * place.size;
    }
    if (step.fold)
      step.fold->fold(tile, at, n, args[0], step.place[1].base, step.partial);
    else if (step.nested)
      run_nested(step, args, steps, first, count);
    else
      step.loop.function(args, &count, steps, step.loop.data);
  }
}

// Elements `at` to `at + n` of a nest, stretch by stretch of its innermost axis.
void FusedKernel::run_nested(const Step& step, char** args, intptr_t* steps, int64_t at, int64_t n) {
  const Dims* shape = nullptr;
  intptr_t sizes[Nest::kMaxOperands];
  for (int i = 0; i < step.n; ++i) {
    sizes[i] = steps[i];
    if (!step.place[i].shape) continue;
    shape = step.place[i].shape;
    steps[i] = step.place[i].strides->back();
  }
  int axes = shape->size() - 1;
  int64_t inner = shape->back(), row = at / inner, column = at % inner;
  int64_t index[kMaxDims];
  char* base[Nest::kMaxOperands];  // of the row, for operands with strides
  std::copy(args, args + step.n, base);
  for (int a = axes - 1; a >= 0; --a) {
    index[a] = row % (*shape)[a];
    row /= (*shape)[a];
    for (int i = 0; i < step.n; ++i)
      if (step.place[i].shape) base[i] += index[a] * (*step.place[i].strides)[a];
  }
  for (int64_t done = 0; done < n;) {
    intptr_t count = std::min(inner - column, n - done);
    char* inner_args[Nest::kMaxOperands];
    intptr_t inner_steps[Nest::kMaxOperands];
    for (int i = 0; i < step.n; ++i) {
      inner_args[i] = step.place[i].shape ? base[i] + column * steps[i] : args[i] + done * sizes[i];
      inner_steps[i] = steps[i];  // 0 also for a row's last element alone: loops may look at it, as power does
    }
    step.loop.function(inner_args, &count, inner_steps, step.loop.data);
    done += count, column = 0;
    for (int a = axes - 1; a >= 0; --a) {
      bool wraps = ++index[a] == (*shape)[a];
      int64_t by = wraps ? 1 - (*shape)[a] : 1;
      for (int i = 0; i < step.n; ++i)
        if (step.place[i].shape) base[i] += by * (*step.place[i].strides)[a];
      if (!wraps) break;
      index[a] = 0;
    }
  }
}

}  // namespace forerun
