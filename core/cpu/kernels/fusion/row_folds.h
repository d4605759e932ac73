// Reductions of rows in a group: equal ones are computed once, such as the sums in x.mean(1) and x.var(1).
#pragma once
#include <vector>

#include "cpu/kernels/fusion/plan.h"

namespace forerun {

class RowFolds {
 public:
  // The results in a storage are written again by another step.
  void forget(int storage) {
    std::erase_if(folds_, [&](const Fold& fold) { return fold.storage == storage; });
  }
  // A step that reduces rows, into a storage: if an earlier one has given the same results, it becomes a copy of these.
  // written: whether a step writes the storage that it reads.
  void find_or_add(Plan::Step& step, const BlockedReduction& fold, int storage, bool written);

 private:
  struct Fold {
    const BlockedReduction* fold;
    int elements;  // Plan::Operand::elements
    int storage;   // of the results
    Plan::Operand results;
  };
  std::vector<Fold> folds_;
};

}  // namespace forerun
