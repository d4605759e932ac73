// Makes the plan of a group: the steps of its ops, and the places of their values.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "cpu/kernels/fusion/fused_kernel.h"
#include "cpu/kernels/fusion/row_folds.h"

namespace forerun {

// Elements of a row that is worth a call of a loop.
inline constexpr int64_t kLongRow = 128;

inline const Fusible& kernel_of(const Op& op) { return static_cast<const Fusible&>(*op.kernel()); }
bool same_elements(const FusibleOperands::Operand& a, const FusibleOperands::Operand& b);
Plan::Operand in_scratch(int value, DType dtype);
// A step that copies, or casts.
Plan::Step conversion(const Plan::Operand& from, const Plan::Operand& to, DType a, DType b);

// A step of an op's loop, whose operands have no places yet.
Plan::Step step_of(const FusibleOperands& part);

class PlanMaker {
 public:
  explicit PlanMaker(const FusedKernel& group) : group_(group) {}
  // `compiled`: without a pitch, and null unless its loops are compiled; then `wanted` are those that are not compiled.
  std::shared_ptr<const Plan> make(bool compiled, std::vector<Plan::Wanted>& wanted);

 private:
  struct Value {  // in scratch memory, from one step to another
    int64_t size;
    int from = -1, free_from = -1;  // steps: the first that uses it, and the first that may reuse its place
    int64_t offset = 0;
  };
  // Inputs whose elements are not consecutive, and that several steps traverse in the same way: they are copied once
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
  Plan::Operand nested(Plan::Operand place, const FusibleOperands::Operand& operand);
  int elements_of(const FusibleOperands::Operand& operand, int where);
  void emit(const Plan::Step& step);

  // Of a plan with a pitch: the copies of storages in scratch memory.
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
  std::vector<int> value_at_;   // of each storage: its value, if it is elided; -1: no value yet
  std::vector<bool> streamed_;  // of each storage: whether a step that traverses it in one piece has been found
  std::vector<SharedInput> shared_inputs_;
  std::vector<Copied> copied_;
  RowFolds row_folds_;
  std::vector<std::pair<const FusibleOperands::Operand*, int>> elements_;  // elements of arrays, and their storages
  std::vector<FusibleOperands> parts_;                                     // of the ops, in order
  int sources_ = 0, reductions_ = 0;
};

std::shared_ptr<const Plan> make_plan(const FusedKernel& group);

}  // namespace forerun
