// A group of element-wise ops and reductions over the same elements: run block by block, so that what one of them writes is still in
// the L1 cache when the next one reads it, and values that nobody else reads never reach memory.
#pragma once
#include <memory>
#include <vector>

#include "kernels/fold.h"
#include "kernels/part.h"

namespace forerun {

class FusedKernel final : public Group {
 public:
  const char* name() const override { return "group"; }
  bool add(Op& op) override;
  bool elide(Storage* storage) override;
  void prepare(Op& op) override;
  int64_t tiles() const override { return fold_ ? fold_->tiles() : (elements_ + kTileElements - 1) / kTileElements; }
  void run(Op& op, int64_t tile) override;

 private:
  // How ops of the group use a storage, seen from the elements that are walked. All uses of a storage that is written must be the
  // same, so that a block reads only what the same block wrote.
  enum class Use : uint8_t {
    each,   // element i is at offset + i * size
    row,    // row r is at offset + r * size
    other,  // anything else
    total,  // a result of reductions that is there only when all tiles have ended
  };
  struct Held {
    Storage* storage;
    Use use;
    bool written, elided;
    int64_t offset, size;
  };
  // Where a loop finds an operand.
  struct Place {
    char* base = nullptr;   // the first element, or the scalar;
    int value = -1;         // or a value in scratch memory,
    int64_t offset = 0;     // which starts there
    intptr_t size = 0;      // bytes from one element to the next; 0: a scalar
    const Dims *shape = nullptr, *strides = nullptr;  // if the elements do not follow one another
  };
  struct Step {
    Loop loop;
    const Fold* fold = nullptr;
    Fold::Partial* partial = nullptr;
    int n = 0, n_in = 0;
    bool of_rows = false;  // walks rows, not elements
    bool nested = false;   // some operand has strides
    Place place[Nest::kMaxOperands];
  };
  struct Value {  // in scratch memory, from one step to another
    Storage* storage = nullptr;
    int64_t size = 0;
    int from = -1, free_from = -1;  // steps: the first that uses it, and the first that may use its place
    int64_t offset = 0;
  };

  Use use_of(const Part& part, const Part::Operand& operand) const;
  Held* find(const Storage* storage);
  void add_steps(Op& op);
  int value_of(Storage* storage, int64_t size);
  void emit(Step step);
  void place_values();
  void run_block(int64_t tile, int64_t at, int64_t n, char* memory) const;
  static void run_nested(const Step& step, char** args, intptr_t* steps, int64_t at, int64_t n);

  std::vector<Op*> ops_;
  std::vector<Held> held_;
  int64_t elements_ = 0;
  const Fold* fold_ = nullptr;  // the first: it decides how the elements are cut into tiles
  std::vector<Step> steps_;
  std::vector<Value> values_;
  std::vector<std::unique_ptr<Fold::Partial>> partials_;
  size_t scratch_bytes_ = 0;
  int64_t block_ = kBlock;      // elements of the longest block
};

}  // namespace forerun
