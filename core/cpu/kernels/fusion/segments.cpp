#include "cpu/kernels/fusion/segments.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/iteration_space.h"
#include "cpu/codegen/compiled_loops.h"
#include "cpu/loops/formulas.h"

namespace forerun {

namespace {

constexpr size_t kLeastSteps = 2;   // fewer are not worth a loop
constexpr size_t kMostSteps = 600;  // compiling takes some 30 us for each
constexpr int64_t kLeastRow = 4;    // fewer are not worth a vector

int64_t inner_stride(const Plan::Operand& operand) {
  return operand.nest ? operand.nest->strides[operand.place].back() : operand.size;
}

// Whether a loop may replace a step.
bool expressible(const Plan::Step& step) {
  const Formula formula = step.loop.formula;
  if (step.of_rows || step.apart || step.n() != step.n_in + 1) return false;
  if (step.fold >= 0 ? step.summed.empty() : formula == Formula::none) return false;
  auto good = [&](const Plan::Operand& operand) {
    const bool known = operand.value >= 0 || operand.elements >= 0 || operand.size == 0;
    return known && is_compiled(operand.dtype) && (!operand.nest || operand.nest->shape.back() >= kLeastRow);
  };
  if (step.fold >= 0) return good(step.operands[0]);
  // A bool is written as 0 or 1, where a copy would preserve other nonzero bytes.
  const Plan::Operand& out = step.operands.back();
  if (formula == Formula::cast && step.operands[0].dtype == DType::b1 && out.dtype == DType::b1 && out.value < 0)
    return false;
  return std::all_of(step.operands.begin(), step.operands.end(), good) && inner_stride(out) != 0;
}

std::string walk(const Plan::Operand& operand) {
  const int64_t stride = inner_stride(operand);
  if (stride == 0) return operand.nest ? "row" : "one";
  return stride == static_cast<int64_t>(item_size(operand.dtype)) ? "dense" : "strided " + std::to_string(stride);
}

// --- order -----------------------------------------------------------------------------------------------------------

// Orders steps so that as many expressible ones as possible are consecutive. Steps stay behind those whose values they
// read or overwrite; and writes and reads of arrays keep their order, as different arrays may share memory.
class StepOrder {
 public:
  explicit StepOrder(const std::vector<Plan::Step>& steps)
      : steps_(steps), before_(steps.size()), after_(steps.size()) {
    for (size_t s = 0; s < steps.size(); ++s) add(s);
  }
  std::vector<size_t> take() {
    std::vector<size_t> order;
    std::vector<size_t> ready[2];  // by whether they are expressible; the latest at the front
    auto put = [&](size_t s) {
      auto& list = ready[expressible(steps_[s])];
      list.insert(std::lower_bound(list.begin(), list.end(), s, std::greater<>()), s);
    };
    for (size_t s = 0; s < steps_.size(); ++s)
      if (before_[s] == 0) put(s);
    bool which = true;
    while (order.size() < steps_.size()) {
      if (ready[which].empty()) which = !which;
      const size_t s = ready[which].back();
      ready[which].pop_back();
      order.push_back(s);
      for (size_t next : after_[s])
        if (--before_[next] == 0) put(next);
    }
    return order;
  }

 private:
  static constexpr int kArrays = -1;  // in place of a value's number: all arrays but those with one element per row
  struct Uses {
    std::optional<size_t> writer;
    std::vector<size_t> readers;  // since the last write
  };

  void after(size_t first, size_t then) {
    if (first != then) after_[first].push_back(then), ++before_[then];
  }
  void add(size_t s) {
    const Plan::Step& step = steps_[s];
    for (int i = 0; i < step.n(); ++i) {
      const Plan::Operand& operand = step.operands[i];
      if (operand.value < 0 && operand.size == 0) continue;  // a scalar
      const int array = operand.row_storage < 0 ? kArrays : kArrays - 1 - operand.row_storage;
      Uses& uses = uses_[operand.value < 0 ? array : operand.value];
      if (uses.writer) after(*uses.writer, s);
      if (i < step.n_in) {
        uses.readers.push_back(s);
        continue;
      }
      for (size_t reader : uses.readers) after(reader, s);
      uses.readers.clear();
      uses.writer = s;
    }
  }

  const std::vector<Plan::Step>& steps_;
  std::vector<int> before_;                 // steps that must come first,
  std::vector<std::vector<size_t>> after_;  // and that wait for each
  std::map<int, Uses> uses_;
};

// --- iteration spaces ------------------------------------------------------------------------------------------------

// The coarsest shape that refines both, if there is one: for (6, 20) and (30, 4) it is (6, 5, 4).
std::optional<Dims> refined(const Dims& a, const Dims& b) {
  std::vector<int64_t> ends;  // elements from the innermost axis on
  for (const Dims* shape : {&a, &b}) {
    int64_t all = 1;
    for (int axis = shape->size() - 1; axis >= 0; --axis) ends.push_back(all *= (*shape)[axis]);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  if (static_cast<int>(ends.size()) > kMaxDims) return std::nullopt;
  Dims shape(static_cast<int>(ends.size()));
  int64_t before = 1;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    const int64_t end = ends[ends.size() - 1 - static_cast<size_t>(axis)];
    if (end % before != 0) return std::nullopt;
    shape[axis] = end / before, before = end;
  }
  return shape;
}

// The strides of an operand over such a shape.
Dims refined_strides(const IterationSpace& space, int place, const Dims& shape) {
  Dims strides(shape.size());
  int from = space.shape.size() - 1;
  int64_t done = 1;  // elements of that axis
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    strides[axis] = space.strides[place][from] * done;
    done *= shape[axis];
    if (done == space.shape[from] && from > 0) --from, done = 1;
  }
  return strides;
}

// --- segments --------------------------------------------------------------------------------------------------------

class Segment {
 public:
  // False: this step cannot be part of it.
  bool add(const Plan::Step& step) {
    // All written values may have to be stored.
    const size_t most = operands_.size() + values_.size() + arrays_.size() + sums_.size() + step.operands.size();
    if (steps_ == kMostSteps || most > kMostStepOperands) return false;
    if (!keeps_sums(step) || !refine(step)) return false;
    if (step.fold >= 0)
      sums_.push_back({step, input(step.operands[0])});
    else
      add_formula(step);
    ++steps_;
    return true;
  }
  size_t steps() const { return steps_; }
  // To be called when all steps are known: the loop's description. `read_later(v)`: whether a later step reads a value.
  template <class F>
  std::string finish(F read_later) {
    std::vector<const Known*> stored;
    for (const auto& [value, known] : values_)
      if (known.written >= 0 && read_later(value)) stored.push_back(&known);
    for (const auto& [elements, known] : arrays_)
      if (known.written >= 0) stored.push_back(&known);
    // Of two arrays that share memory the later one is kept.
    std::sort(stored.begin(), stored.end(), [](const Known* a, const Known* b) { return a->written < b->written; });
    for (const Known* known : stored) store(known->place, known->number);
    for (Summed& sum : sums_) add_up(sum);
    std::string text;
    const size_t others = operands_.size() - sums_.size();
    for (size_t k = 0; k < operands_.size(); ++k)
      text +=
          std::string("operand ") + name(operands_[k].dtype) + ' ' + (k < others ? walk(operands_[k]) : "sum") + '\n';
    return text + code_;
  }
  // The step that replaces all of them; its iteration spaces become the plan's.
  Plan::Step compiled(Plan& plan, RowsFunction function) const {
    Plan::Step step;
    step.loop.rows = function;
    step.compiled = true, step.operands = operands_, step.n_in = n_loaded_;
    for (const Summed& sum : sums_) step.sums.push_back({sum.operand, sum.step.fold});
    for (Plan::Operand& operand : step.operands) {
      if (!operand.nest) continue;
      step.nested = true;
      auto space = std::make_unique<IterationSpace>();
      space->operands = 1, space->shape = *shape_;
      space->strides[0] = refined_strides(*operand.nest, operand.place, *shape_);
      operand.nest = space.get(), operand.place = 0;
      plan.nests.push_back(std::move(space));
    }
    return step;
  }

 private:
  struct Known {
    int number = -1;      // of the line that currently has it
    int written = -1;     // steps before the last one that has written it; -1: it is not written
    Plan::Operand place;  // its place
  };
  struct Summed {
    Plan::Step step;
    int number;        // of the line whose values are summed
    int operand = -1;  // the results
  };

  // Refines the shape so that each of its rows is a part of a row of all steps' operands, and a whole row of elements
  // of sums.
  bool refine(const Plan::Step& step) {
    std::optional<Dims> shape = shape_;
    const Dims* summed = step.fold >= 0 ? &step.summed : sums_.empty() ? nullptr : &sums_.front().step.summed;
    auto take = [&](const Dims& other) {
      shape = shape ? refined(*shape, other) : other;
      return shape && shape->back() >= kLeastRow;
    };
    for (const Plan::Operand& operand : step.operands)
      if (operand.nest && !take(operand.nest->shape)) return false;
    if (summed && (!take(*summed) || shape->back() != summed->back())) return false;
    shape_ = shape;
    return true;
  }
  // Whether the step does not use the results of sums, which are set to zero before a block's first row: they are new
  // arrays, which only later steps may use.
  bool keeps_sums(const Plan::Step& step) const {
    for (const Summed& sum : sums_)
      for (const Plan::Operand& operand : step.operands)
        if (operand.row_storage >= 0 && operand.row_storage == sum.step.operands[1].row_storage) return false;
    return step.fold < 0 || sums_.empty() ||
           item_size(sums_[0].step.operands[0].dtype) == item_size(step.operands[0].dtype);
  }

  void add_formula(const Plan::Step& step) {
    std::string line = std::string(name(step.loop.formula)) + ' ' + name(step.operands[step.n_in > 2 ? 1 : 0].dtype);
    if (step.loop.formula == Formula::cast) line += std::string(" ") + name(step.operands[1].dtype);
    for (int i = 0; i < step.n_in; ++i) line += ' ' + std::to_string(input(step.operands[i]));
    output(step.operands.back(), number(line));
  }
  int number(const std::string& line) {
    code_ += line + '\n';
    return lines_++;
  }
  int load(const Plan::Operand& operand) {
    operands_.push_back(operand);
    n_loaded_ = static_cast<int>(operands_.size());
    return number(std::string("load ") + name(operand.dtype) + ' ' + std::to_string(n_loaded_ - 1));
  }
  int input(const Plan::Operand& operand) {
    if (operand.value < 0 && operand.elements < 0) return load(operand);  // a scalar
    Known& known = operand.value >= 0 ? values_[operand.value] : arrays_[operand.elements];
    if (known.number < 0) known.number = load(operand);
    return known.number;
  }
  void output(const Plan::Operand& operand, int number) {
    Known& known = operand.value >= 0 ? values_[operand.value] : arrays_[operand.elements];
    known = {number, static_cast<int>(steps_), operand};
  }
  // All stores come last, so that each element is read before it, or one that shares its memory, is written.
  void store(const Plan::Operand& operand, int number) {
    operands_.push_back(operand);
    code_ += "store " + std::to_string(operands_.size() - 1) + ' ' + std::to_string(number) + '\n';
  }
  void add_up(Summed& sum) {
    Plan::Operand place = sum.step.operands[1];
    const Dims& shape = sum.step.summed;
    place.size = 0;
    if (sum.step.by_rows) {
      auto space = std::make_unique<IterationSpace>();
      space->operands = 1, space->shape = shape, space->strides[0] = Dims(shape.size());
      space->strides[0][0] = static_cast<int64_t>(item_size(place.dtype));
      place.nest = spaces_.emplace_back(std::move(space)).get(), place.place = 0;
    }
    sum.operand = static_cast<int>(operands_.size());
    operands_.push_back(place);
    code_ += "sum " + std::to_string(sum.operand) + ' ' + std::to_string(sum.number) + '\n';
  }

  std::optional<Dims> shape_;  // of all operands that have an iteration space
  std::vector<Plan::Operand> operands_;
  std::vector<Summed> sums_;
  std::vector<std::unique_ptr<IterationSpace>> spaces_;
  std::map<int, Known> values_, arrays_;  // by the value's number, and by the number of the array's elements
  std::string code_;
  int lines_ = 0, n_loaded_ = 0;
  size_t steps_ = 0;
};

// A segment, and the places of its steps in their order.
struct Found {
  Segment segment;
  size_t first, end;
  std::string description;
  std::shared_ptr<CompiledLoop> loop;
};

std::vector<Found> find_segments(const std::vector<Plan::Step>& steps, const std::vector<size_t>& order) {
  std::map<int, size_t> last_read;  // of each value: the last place in the order where a step reads it
  for (size_t k = 0; k < order.size(); ++k)
    for (int i = 0; i < steps[order[k]].n_in; ++i) last_read[steps[order[k]].operands[i].value] = k;
  std::vector<Found> all;
  for (size_t k = 0; k < order.size();) {
    Found found{{}, k, k, {}, nullptr};
    while (k < order.size() && expressible(steps[order[k]]) && found.segment.add(steps[order[k]])) ++k;
    found.end = k;
    if (found.segment.steps() >= kLeastSteps) {
      found.description = found.segment.finish([&](int value) {
        const auto at = last_read.find(value);
        return at != last_read.end() && at->second >= found.end;
      });
      all.push_back(std::move(found));
    }
    if (found.end == found.first) ++k;
  }
  return all;
}

}  // namespace

bool compile_segments(Plan& plan, int64_t elements) {
  if (plan.steps.size() < kLeastSteps) return false;
  const std::vector<size_t> order = StepOrder(plan.steps).take();
  std::vector<Found> all = find_segments(plan.steps, order);
  bool compiled = !all.empty(), refused = false;
  for (Found& found : all) {
    found.loop = CompiledLoops::get().find(found.description);
    compiled = compiled && found.loop->function();
    refused = refused || (found.loop->settled() && !found.loop->function());
  }
  if (!compiled) {
    for (const Found& found : all)
      if (!refused) plan.wanted.push_back({found.loop, elements * static_cast<int64_t>(found.segment.steps())});
    return false;
  }
  std::vector<Plan::Step> steps;
  size_t k = 0;
  for (const Found& found : all) {
    for (; k < found.first; ++k) steps.push_back(plan.steps[order[k]]);
    steps.push_back(found.segment.compiled(plan, found.loop->function()));
    k = found.end;
  }
  for (; k < order.size(); ++k) steps.push_back(plan.steps[order[k]]);
  plan.steps = std::move(steps);
  return true;
}

}  // namespace forerun
