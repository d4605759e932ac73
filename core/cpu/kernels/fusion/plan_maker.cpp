#include "cpu/kernels/fusion/plan_maker.h"

#include <algorithm>
#include <numeric>

#include "cpu/kernels/fusion/segments.h"
#include "cpu/loops/cast.h"

namespace forerun {

namespace {

// Values of a block are in the L1 cache together, or little is fetched anew from the next one: shorter blocks cost more
// calls of loops than they save.
constexpr int64_t kNearBytes = 64 << 10, kLeastBlock = 256;
constexpr int64_t kVector = 16;  // elements
// Bytes of the values of blocks that have whole rows.
constexpr int64_t kReductionValues = 64 << 10;
// The same for blocks beside which lines of the next block are fetched, and the elements of others of these: each step
// then fetches about as many lines as a core can wait for at once, and does not itself wait for them.
constexpr int64_t kStreamedValues = 4 << 10, kStreamedBlock = 512;
constexpr int64_t kMostBlock = 8192;  // elements
// Arrays that do not stay in caches: of some of them, lines of the next block are fetched beside the steps of this one.
constexpr int64_t kStreamBytes = 8 << 20;
// Longer than a page by some lines: values that start at the same place of a page get into each other's way.
constexpr int64_t kApart = 192;

}  // namespace

bool same_elements(const FusibleOperands::Operand& a, const FusibleOperands::Operand& b) {
  if (a.offset != b.offset || a.dtype != b.dtype || !a.nest != !b.nest) return false;
  return !a.nest || (a.nest->shape == b.nest->shape && a.nest->strides[a.place] == b.nest->strides[b.place]);
}

Plan::Operand in_scratch(int value, DType dtype) {
  Plan::Operand place;
  place.value = value, place.size = static_cast<intptr_t>(item_size(dtype)), place.dtype = dtype;
  return place;
}

Plan::Step conversion(const Plan::Operand& from, const Plan::Operand& to, DType a, DType b) {
  Plan::Step step;
  step.loop = cast_loop(a, b), step.n_in = 1, step.operands = {from, to};
  step.operands[0].dtype = a, step.operands[1].dtype = b;
  return step;
}

Plan::Step step_of(const FusibleOperands& part) {
  Plan::Step step;
  step.loop = part.loop, step.n_in = part.n_in, step.operands.resize(static_cast<size_t>(part.n));
  if (part.pieces) step.pieces = *part.pieces;
  for (int i = 0; i < part.n; ++i) step.operands[i].dtype = part.operand[i].dtype;
  return step;
}

std::shared_ptr<const Plan> make_plan(const FusedKernel& group) {
  std::vector<Plan::Wanted> wanted;
  if (group.may_compile())
    if (std::shared_ptr<const Plan> plan = PlanMaker(group).make(true, wanted)) return plan;
  return PlanMaker(group).make(false, wanted);
}

std::shared_ptr<const Plan> PlanMaker::make(bool compiled, std::vector<Plan::Wanted>& wanted) {
  plan_->signature = group_.signature_;
  count_shared_inputs();
  if (!compiled) choose_pitch();
  const int* where = group_.where_.data();
  for (const FusibleOperands& part : parts_) where = plan_->pitch ? add_pitched(part, where) : add_steps(part, where);
  if (compiled && !compile_segments(*plan_, group_.elements_)) {
    wanted = std::move(plan_->wanted);
    return nullptr;
  }
  plan_->wanted = std::move(wanted);
  if (!compiled) join_pairs();
  place_values();
  return std::move(plan_);
}

Plan::Operand PlanMaker::nested(Plan::Operand place, const FusibleOperands::Operand& operand) {
  plan_->nests.push_back(std::make_unique<IterationSpace>(*operand.nest));
  place.nest = plan_->nests.back().get(), place.place = operand.place;
  return place;
}

int PlanMaker::elements_of(const FusibleOperands::Operand& operand, int where) {
  for (size_t k = 0; k < elements_.size(); ++k)
    if (elements_[k].second == where && same_elements(*elements_[k].first, operand)) return static_cast<int>(k);
  elements_.emplace_back(&operand, where);
  return static_cast<int>(elements_.size()) - 1;
}

void PlanMaker::emit(const Plan::Step& step) {
  plan_->steps.push_back(step);
  for (const Plan::Operand& operand : step.operands) plan_->steps.back().nested |= operand.nest != nullptr;
}

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
  Plan::Step step = step_of(part);
  step.of_rows = part.elements != group_.elements_;
  if (part.fold) step.fold = reductions_++, step.summed = part.fold->summed_rows(), step.by_rows = part.fold->by_rows();
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
    } else if (part.pieces && i < part.n_in) {
      place.source = sources_++;
    } else {
      const bool walked = !operand.nest && !step.of_rows && !(part.fold && i >= part.n_in) && !streamed_[*where];
      if (walked) streamed_[*where] = true;
      if (walked && group_.elements_ * place.size >= kStreamBytes && plan_->streams.size() < Plan::kMostStreams)
        plan_->streams.push_back({sources_, place.size});
      place.source = sources_++, place.elements = elements_of(operand, *where);
      if (known.use == FusedKernel::Use::row) place.row_storage = *where;
    }
    if (operand.nest) place = nested(place, operand);
    SharedInput* shared =
        operand.nest && i < part.n_in && !step.of_rows && !known.written ? shared_input_of(operand, *where) : nullptr;
    if (shared && shared->uses > 1) {
      if (shared->value < 0) {
        shared->value = new_value(place.size);
        emit(move(place, in_scratch(shared->value, operand.dtype), operand.dtype, operand.dtype));
      }
      place = in_scratch(shared->value, operand.dtype);
    }
    // A loop whose last bits depend on strides gets its operands packed; a reduction, one after the other.
    intptr_t inner = operand.nest ? operand.nest->strides[operand.place].back() : place.size;
    bool pack = place.nest && ((part.loop.packed && inner != 0 && inner != place.size) || part.fold);
    if (operand.dtype == operand.loop_dtype && !pack) continue;
    const Plan::Operand own =
        in_scratch(new_value(static_cast<int64_t>(item_size(operand.loop_dtype))), operand.loop_dtype);
    if (i < part.n_in)
      emit(move(place, own, operand.dtype, operand.loop_dtype));
    else
      after.push_back(move(own, place, operand.loop_dtype, operand.dtype));
    place = own;
  }
  for (int i = part.n_in; i < part.n; ++i) row_folds_.forget(where[i - part.n]);
  if (part.fold && part.fold->by_rows())
    row_folds_.find_or_add(step, *part.fold, where[-1], group_.storages_[where[-part.n]].written);
  emit(step);
  for (const Plan::Step& one : after) emit(one);
  return where;
}

// Elements of a block, if each of them takes so many bytes of values. A block has whole rows of the iteration space, if
// all of its rows have one length; and whole vectors, if it can.
int64_t PlanMaker::block_of(int64_t bytes) const {
  int64_t block = plan_->streams.empty() ? kBlock : kStreamedBlock, row = 1;
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
  const int64_t near = plan_->streams.empty() ? kReductionValues : kStreamedValues;
  return std::max(least,
                  std::min(kMostBlock, near / std::max<int64_t>(bytes, 1)) / fold.row_length() * fold.row_length());
}

// Gives values that live at different times the same place.
void PlanMaker::place_values() {
  for (size_t now = 0; now < plan_->steps.size(); ++now) {
    const Plan::Step& step = plan_->steps[now];
    for (int i = 0; i < step.n(); ++i) {
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
  for (const Plan::Step& step : plan_->steps) plan_->walks += !step.of_rows;
  for (Plan::Step& step : plan_->steps)
    for (int i = 0; i < step.n(); ++i)
      if (step.operands[i].value >= 0) step.operands[i].offset = rooms[room_of[step.operands[i].value]].offset;
}

}  // namespace forerun
