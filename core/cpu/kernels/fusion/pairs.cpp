// Pairs of steps of plain arithmetic that become one loop.
#include <algorithm>

#include "cpu/kernels/fusion/plan_maker.h"
#include "cpu/loops/simd_arithmetic.h"

namespace forerun {

// Whether one loop can traverse the operands of both steps: in rows that are long enough to be processed one by one.
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
  std::for_each(a.operands.begin(), a.operands.end(), check),
      std::for_each(b.operands.begin(), b.operands.end(), check);
  return good;
}

// Whether the second step may also do the work of the first: nothing between them writes an input of the first. Arrays
// of different storages may share memory, if one ends before the other is written (BufferReuse).
bool PlanMaker::pair(size_t first, size_t second) const {
  const Plan::Step &a = plan_->steps[first], &b = plan_->steps[second];
  if (a.loop.pair_dtype == DType::b1 || a.loop.pair_dtype != b.loop.pair_dtype) return false;
  auto one = [](const Plan::Operand& place) {
    return place.nest ? place.nest->strides[place.place].back() == 0 : place.size == 0;
  };
  if (a.of_rows || b.of_rows || !one_loop_walks(a, b) || (one(a.operands[0]) && one(a.operands[a.n_in - 1])))
    return false;
  for (size_t s = first + 1; s < second; ++s) {
    const Plan::Step& step = plan_->steps[s];
    for (int out = step.n_in; out < step.n(); ++out)
      for (int in = 0; in < a.n_in; ++in)
        if (step.operands[out].value < 0 ? a.operands[in].value < 0 && a.operands[in].size != 0
                                         : step.operands[out].value == a.operands[in].value)
          return false;
  }
  return true;
}

// Merges two steps of plain arithmetic where no other step reads the value between them: it stays in registers.
void PlanMaker::join_pairs() {
  std::vector<Plan::Step>& steps = plan_->steps;
  std::vector<int> writes(values_.size()), reads(values_.size()), writer(values_.size(), -1);
  for (const Plan::Step& step : steps)
    for (int i = 0; i < step.n(); ++i)
      if (int v = step.operands[i].value; v >= 0) ++(i < step.n_in ? reads : writes)[v];
  std::vector<bool> gone(steps.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    Plan::Step& step = steps[s];
    bool joined = false;
    for (int i = 0; step.loop.pair_dtype != DType::b1 && i < step.n_in && !joined; ++i) {
      int v = step.operands[i].value;
      if (v < 0 || writes[v] != 1 || reads[v] != 1 || writer[v] < 0 || !pair(static_cast<size_t>(writer[v]), s))
        continue;
      const Plan::Step& before = steps[writer[v]];
      Plan::Step both;
      both.loop = pair_loop(before.loop, step.loop, i == 0);
      both.operands = {before.operands[0], before.operands[before.n_in - 1]}, both.n_in = 2;
      if (step.n_in == 2) both.operands.push_back(step.operands[1 - i]), ++both.n_in;
      both.operands.push_back(step.operands[step.n_in]);
      both.nested = before.nested || step.nested;
      gone[writer[v]] = true;
      step = both;
      joined = true;
    }
    for (int i = step.n_in; i < step.n(); ++i)
      if (int v = step.operands[i].value; v >= 0) writer[v] = static_cast<int>(s);
  }
  size_t kept = 0;
  for (size_t s = 0; s < steps.size(); ++s)
    if (!gone[s]) std::swap(steps[kept++], steps[s]);
  steps.resize(kept);
}

}  // namespace forerun
