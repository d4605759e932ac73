// A group of element-wise ops and reductions over the same elements: run block by block, so that the result of one op
// is still in the L1 cache when the next one reads it, and values that no other operation reads never reach memory.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "cpu/kernels/fusible_operands.h"
#include "cpu/kernels/fusion/plan.h"
#include "cpu/kernels/reduce/blocked_reduction.h"

namespace forerun {

class FusedKernel final : public FusedGroup {
 public:
  FusedKernel();
  const char* name() const override { return "group"; }
  bool add(Op& op) override;
  bool elide(Storage* storage) override;
  void resume() override;
  void plan() override;
  bool may_share(Op& op, const Storage* in, const Storage* out) const override;
  void prepare(Op& op) override;
  int64_t tiles() const override { return reduction_ ? reduction_->tiles() : ceil_div(elements_, tile_elements()); }
  void run(Op& op, int64_t tile) override;
  bool may_compile() const { return may_compile_; }

 private:
  friend class PlanMaker;
  // How ops of the group use a storage, relative to the elements that are traversed. All uses of a storage that is
  // written must be the same, so that a block reads only values that the same block wrote; or uses of parts that do not
  // overlap.
  enum class Use : uint8_t {
    each,   // element i is at offset + i * size
    row,    // row r is at offset + r * size
    other,  // anything else
    total,  // a result of reductions that is complete only when all tiles have ended
  };
  struct StorageUse {  // of a storage, or of a part of it
    Storage* storage;
    const Region* region;  // the part with the elements; owned by an op of the group
    int next_part;         // of the same storage, in storages_; -1: the last
    Use use;
    bool written, elided;
    int64_t offset, size;
    size_t first_write, last_use;  // ops, by their position in the group
    const IterationSpace* nest;    // of the first use, if its elements are not consecutive
    int place;                     // operand number in the nest
    bool mixed;                    // whether there are different uses
    bool as(Use other,
            const FusibleOperands::Operand& operand)
        const;  // whether all uses, and this one, find the same element at the same position
  };

  Use use_of(const FusibleOperands& part, const FusibleOperands::Operand& operand) const;
  // While the group is formed, with the engine's lock.
  const StorageUse* find(const Storage* storage) const {  // the first part of several
    return storage->placed_by == number_ ? &storages_[storage->place] : nullptr;
  }
  static constexpr int kNewPart = -1, kRefused = -2;
  int part_for(Use use, const FusibleOperands::Operand& operand, const Access& access, bool writes) const;
  void add_use(const Access& access, Use use, const FusibleOperands::Operand& operand, bool writes, int& where);
  StorageUse* find(const Storage* storage) { return const_cast<StorageUse*>(std::as_const(*this).find(storage)); }
  int64_t tile_elements() const;
  void append_signature(const FusibleOperands& part, const int* where);
  void run_block(int64_t tile, int64_t at, int64_t n, int64_t next, char* memory) const;
  void run_strided(const Plan::Step& step, char** args, const intptr_t* steps, int64_t at, int64_t n) const;

  const uint64_t number_;  // of the group; no other has the same
  std::vector<Op*> ops_;
  std::vector<StorageUse> storages_;
  std::vector<int> where_;  // of each operand of each op, in order: its index in storages_; -1: a scalar
  int64_t elements_ = 0;
  const BlockedReduction* reduction_ = nullptr;  // the first: it decides how the elements are cut into tiles
  std::vector<uint64_t> signature_;
  bool may_compile_ = false;  // loops of its plan may be compiled
  std::shared_ptr<const Plan> plan_;
  // The part that differs between groups of the same plan, and between runs: the addresses of arrays and scalars, in
  // the order of the operands that are not values.
  struct Source {
    const Access* access;  // null: a scalar
    int64_t offset;
    const char* scalar;
  };
  std::vector<Source> from_;
  std::vector<char*> sources_;  // their addresses
  std::vector<const BlockedReduction*> reductions_;
  std::vector<size_t> result_sources_;  // of the reductions
  std::vector<char*> results_;
  std::vector<std::unique_ptr<BlockedReduction::Partial>> partials_;
};

}  // namespace forerun
