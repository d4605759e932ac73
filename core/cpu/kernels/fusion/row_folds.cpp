#include "cpu/kernels/fusion/row_folds.h"

#include <algorithm>

#include "cpu/kernels/fusion/plan_maker.h"

namespace forerun {

void RowFolds::find_or_add(Plan::Step& step, const BlockedReduction& fold, int storage, bool written) {
  const Plan::Operand results = step.operands[1];
  const Fold own{&fold, step.operands[0].elements, storage, results};
  if (own.elements < 0) return;  // of values that are not in an array
  const auto same = std::find_if(folds_.begin(), folds_.end(), [&](const Fold& earlier) {
    return earlier.elements == own.elements && earlier.results.dtype == results.dtype &&
           earlier.fold->words() == fold.words();
  });
  if (same != folds_.end()) {
    step = conversion(same->results, results, results.dtype, results.dtype);
    step.of_rows = true;
  } else if (!written) {
    folds_.push_back(own);
  }
}

}  // namespace forerun
