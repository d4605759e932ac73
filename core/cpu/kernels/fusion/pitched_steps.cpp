// Plans with a pitch: steps traverse boxes of arrays together with the gaps between their rows.
#include <algorithm>

#include "cpu/kernels/fusion/plan_maker.h"
#include "cpu/loops/cast.h"

namespace forerun {

namespace {

// For rows shorter than kLongRow, how many times longer than the gaps between them they must be for the gaps to be
// traversed, too. The gaps may be written meanwhile, by unrelated ops.
constexpr int64_t kRowsToGaps = 4;
#ifdef __SANITIZE_THREAD__
constexpr bool kMayPassRows = false;
#else
constexpr bool kMayPassRows = true;
#endif

// A step that copies rows from memory, or to it.
Plan::Step by_rows(const Plan::Operand& from, const Plan::Operand& to, DType dtype) {
  Plan::Step step = conversion(from, to, dtype, dtype);
  step.apart = true;
  return step;
}

}  // namespace

// Whether the rows are those of the plan, a pitch apart. The bytes between rows, over which loops run, are then part of
// the array.
bool PlanMaker::has_pitch(const FusibleOperands::Operand& operand) const {
  if (!operand.nest || operand.nest->shape.size() < 2 || operand.nest->shape.back() != plan_->row) return false;
  const auto size = static_cast<int64_t>(item_size(operand.dtype));
  const Dims& strides = operand.nest->strides[operand.place];
  const int last = strides.size() - 1;
  bool good = strides[last] == size && strides[last - 1] == plan_->pitch * size;
  for (int a = 0; a < last; ++a) good = good && strides[a] >= plan_->pitch * size;
  return good;
}

// Whether an operand of a nest is the same for several rows, and so for the gaps between them.
bool PlanMaker::repeats(const FusibleOperands::Operand& operand) const {
  if (!operand.nest) return false;
  const Dims &shape = operand.nest->shape, &strides = operand.nest->strides[operand.place];
  const int last = shape.size() - 1;
  return strides[last] == 0 && (shape[last] > plan_->row || (last > 0 && strides[last - 1] == 0));
}

// The number of operand copies that a plan with this pitch saves; negative if there can be no such plan.
int64_t PlanMaker::gained() const {
  int64_t saved = 0;
  const int* where = group_.where_.data();
  for (const FusibleOperands& part : parts_) {
    if (part.pieces) return -1;
    for (int i = 0; i < part.n; ++i, ++where) {
      const FusibleOperands::Operand& operand = part.operand[i];
      if (operand.access < 0) continue;
      if (operand.nest && (operand.nest->shape.back() % plan_->row != 0 || operand.nest->shape.size() == kMaxDims))
        return -1;
      if (group_.storages_[*where].elided) continue;
      saved += i < part.n_in && has_pitch(operand) ? 1 : operand.nest ? 0 : -1;
    }
  }
  return saved;
}

// Chooses the pitch that saves most copies, if rows are short enough for it to pay off, and the gaps between them are
// small.
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
  place.source = sources_++, place.size = static_cast<intptr_t>(item_size(operand.dtype)), place.dtype = operand.dtype;
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

// The place in memory of an operand of this pitch, or one that repeats, including the gaps between its rows.
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
  if (has_pitch(operand) || repeats(operand)) {
    Plan::Operand place = with_gaps(operand);
    place.elements = elements_of(operand, where);
    return place;
  }
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

// An op that only copies, to memory, needs only this step. False: it is not such an op.
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

// The op's loop from its block's first element to the last. Its results for memory are then copied there, row by row.
const int* PlanMaker::add_pitched(const FusibleOperands& part, const int* where) {
  if (add_pitched_copy(part, where)) return where + part.n;
  Plan::Step step = step_of(part);
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

}  // namespace forerun
