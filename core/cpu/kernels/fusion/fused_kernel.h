// A group of element-wise ops and reductions over the same elements: run block by block, so that the result of one of
// them is still in the L1 cache when the next one reads it, and values that no other operation reads never reach
// memory.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "cpu/kernels/fusion/fusible_operands.h"
#include "cpu/kernels/reduce/blocked_reduction.h"

namespace forerun {

// The program of a group for each block: the steps of its ops, with numbers in place of addresses. Groups that do the
// same share it, so that a loop that issues the same string of ops again and again is planned once.
struct Plan {
  // Where a loop finds an operand.
  struct Operand {
    int source = -1;                       // an array or a scalar: number of the group's address;
    int value = -1;                        // or a value in scratch memory,
    int64_t offset = 0;                    // which starts there
    intptr_t size = 0;                     // bytes from one element to the next; 0: a scalar
    const IterationSpace* nest = nullptr;  // if the elements do not follow one another
    int place = 0;                         // in the nest
  };
  struct Step {
    Loop loop;
    int fold = -1;  // number of the group's reduction
    int n = 0, n_in = 0;
    bool of_rows = false;  // walks rows, not elements
    bool nested = false;   // some operand has a nest
    bool apart = false;    // copies rows of a plan with a pitch from memory, or to it
    Operand operands[IterationSpace::kMaxOperands];
  };
  std::vector<uint64_t> signature;  // all that the steps follow from
  std::vector<Step> steps;
  std::vector<std::unique_ptr<IterationSpace>> nests;
  // Long arrays that are walked from end to end, by the number of their address, and their elements' sizes.
  struct Stream {
    int source;
    intptr_t size;
  };
  std::vector<Stream> streams;
  size_t scratch_bytes = 0;
  int64_t block = kBlock;  // elements of a block, unless reductions cut the elements
  // Where most operands are boxes of arrays whose rows are little longer, steps walk these arrays and all values from a
  // block's first element to its last, and what lies between two rows with them, of which nothing is kept. A value has
  // rows of `row` elements, each `pitch` elements after the one before. 0: there is nothing between rows.
  int64_t row = 0, pitch = 0;
};

struct PlanStats {
  uint64_t made, reused;
};
PlanStats plan_stats();

class FusedKernel final : public FusedGroup {
 public:
  FusedKernel();
  const char* name() const override { return "group"; }
  bool add(Op& op) override;
  bool elide(Storage* storage) override;
  bool may_share(Op& op, const Storage* in, const Storage* out) const override;
  void prepare(Op& op) override;
  int64_t tiles() const override { return reduction_ ? reduction_->tiles() : ceil_div(elements_, tile_elements()); }
  void run(Op& op, int64_t tile) override;

 private:
  friend class PlanMaker;
  // How ops of the group use a storage, seen from the elements that are walked. All uses of a storage that is written
  // must be the same, so that a block reads only what the same block wrote.
  enum class Use : uint8_t {
    each,   // element i is at offset + i * size
    row,    // row r is at offset + r * size
    other,  // anything else
    total,  // a result of reductions that is there only when all tiles have ended
  };
  struct StorageUse {
    Storage* storage;
    Use use;
    bool written, elided;
    int64_t offset, size;
    size_t first_write, last_use;  // ops, by their place in the group
    const IterationSpace* nest;    // of the first use, if the elements do not follow one another
    int place;                     // in the nest
    bool mixed;                    // there are different uses
    bool as(Use other,
            const FusibleOperands::Operand& operand)
        const;  // all uses, and this one, find the same element at the same position
  };

  Use use_of(const FusibleOperands& part, const FusibleOperands::Operand& operand) const;
  // While the group is put together, with the engine's lock.
  const StorageUse* find(const Storage* storage) const {
    return storage->placed_by == number_ ? &storages_[storage->place] : nullptr;
  }
  StorageUse* find(const Storage* storage) { return const_cast<StorageUse*>(std::as_const(*this).find(storage)); }
  int64_t tile_elements() const;
  void append_signature(const FusibleOperands& part, const int* where);
  void run_block(int64_t tile, int64_t at, int64_t n, int64_t next, char* memory) const;
  void run_strided(const Plan::Step& step, char** args, const intptr_t* steps, int64_t at, int64_t n) const;

  const uint64_t number_;  // of the group; no other has the same
  std::vector<Op*> ops_;
  std::vector<StorageUse> storages_;
  std::vector<int> where_;  // of each operand of each op, in order: its place in storages_; -1: a scalar
  int64_t elements_ = 0;
  const BlockedReduction* reduction_ = nullptr;  // the first: it decides how the elements are cut into tiles
  std::vector<uint64_t> signature_;
  std::shared_ptr<const Plan> plan_;
  // The part that differs between groups of the same plan.
  std::vector<char*> sources_;  // addresses of arrays and scalars, in the order of the operands that are not values
  std::vector<const BlockedReduction*> reductions_;
  std::vector<char*> results_;  // of the reductions
  std::vector<std::unique_ptr<BlockedReduction::Partial>> partials_;
};

}  // namespace forerun
