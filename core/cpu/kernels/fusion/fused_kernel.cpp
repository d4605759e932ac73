#include "cpu/kernels/fusion/fused_kernel.h"

#include <algorithm>
#include <atomic>

#include "base/simd/copy_bytes.h"
#include "cpu/codegen/compiled_loops.h"
#include "cpu/kernels/fusion/plan_cache.h"
#include "cpu/kernels/fusion/plan_maker.h"
#include "cpu/kernels/scratch.h"
#include "cpu/loops/loop_over.h"
#include "engine/engine.h"

namespace forerun {

FusedGroup* Fusible::new_group(Op& op) const {
  auto group = std::make_unique<FusedKernel>();
  return group->add(op) ? group.release() : nullptr;
}

namespace {

constexpr size_t kMostOps = 512;
constexpr int64_t kLine = 64, kLeastAhead = 4 * kLine;  // bytes that are fetched for the next block
constexpr int kIntoL2 = 2;  // the first level has too few buffers for lines that are on their way: a step would wait
constexpr int kLeastWalks = 3;  // with fewer steps over its elements, a core waits for lines beside them
constexpr Region kWhole;
// A tile of a long string of ops has fewer elements, so that several threads share arrays that are not long.
constexpr int64_t kTileOps = 4, kLeastTile = 1024;

// Where in its storage an access may look.
const Region& region_of(const Access& access) { return access.loose ? kWhole : access.op()->region(access); }

// Whether an operand of a nest has the same value for a whole row, and rows follow one another.
bool repeats_rows(const FusibleOperands::Operand& operand, int64_t row_length, int64_t size) {
  int64_t inner = 1;
  const Dims &shape = operand.nest->shape, &strides = operand.nest->strides[operand.place];
  int axis = shape.size() - 1;
  for (; axis >= 0 && inner < row_length; --axis) {
    if (strides[axis] != 0) return false;
    inner *= shape[axis];
  }
  if (inner != row_length) return false;
  for (int64_t step = size; axis >= 0; --axis) {
    if (strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

}  // namespace

// --- which ops go together -------------------------------------------------------------------------------------------

namespace {

uint64_t next_number() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

FusedKernel::FusedKernel() : number_(next_number()) {
  ops_.reserve(8), storages_.reserve(16), where_.reserve(24), signature_.reserve(96), sources_.reserve(24);
}

bool FusedKernel::StorageUse::as(Use other, const FusibleOperands::Operand& operand) const {
  if (mixed || use != other || offset != operand.offset || size != static_cast<int64_t>(item_size(operand.dtype)))
    return false;
  if (use != Use::other) return true;
  return nest && operand.nest && nest->shape == operand.nest->shape &&
         nest->strides[place] == operand.nest->strides[operand.place];
}

int64_t FusedKernel::tile_elements() const {
  const auto ops = static_cast<int64_t>(ops_.size());
  const int64_t most = ops <= kTileOps ? kTileElements : std::max(kLeastTile, kTileElements * kTileOps / ops);
  return std::max<int64_t>(1, most / plan_->block) * plan_->block;
}

FusedKernel::Use FusedKernel::use_of(const FusibleOperands& part, const FusibleOperands::Operand& operand) const {
  bool of_rows = part.elements != elements_;
  int64_t size = static_cast<int64_t>(item_size(operand.dtype));
  if (part.fold && &operand == &part.operand[1]) return part.fold->by_rows() ? Use::row : Use::total;
  if (part.pieces && &operand < part.operand + part.n_in) return Use::other;
  if (!operand.nest) return of_rows ? Use::row : Use::each;
  if (!of_rows && reduction_ && reduction_->by_rows() && repeats_rows(operand, reduction_->row_length(), size))
    return Use::row;
  return Use::other;
}

bool FusedKernel::add(Op& op) {
  FusibleOperands part;
  if (ops_.size() == kMostOps || !kernel_of(op).fusible_operands(part)) return false;
  if (ops_.empty()) elements_ = part.elements;
  bool of_rows = part.elements != elements_;
  if (of_rows &&
      (!reduction_ || !reduction_->by_rows() || part.fold || part.pieces || part.elements != reduction_->rows()))
    return false;
  if (part.fold && reduction_ && !part.fold->same_tiles(*reduction_)) return false;
  const BlockedReduction* before = reduction_;
  if (part.fold && !reduction_) reduction_ = part.fold;
  Use uses[IterationSpace::kMaxOperands];
  int where[IterationSpace::kMaxOperands];  // in storages_, or -1
  bool fits = true;
  for (int i = 0; i < part.n && fits; ++i) {
    const FusibleOperands::Operand& operand = part.operand[i];
    where[i] = -1;
    if (operand.access < 0) continue;
    uses[i] = use_of(part, operand);
    where[i] = part_for(uses[i], operand, op.access(operand.access), i >= part.n_in);
    fits = where[i] != kRefused;
  }
  if (!fits) {
    reduction_ = before;
    return false;
  }
  for (int i = 0; i < part.n; ++i) {
    const FusibleOperands::Operand& operand = part.operand[i];
    if (operand.access < 0) continue;
    const Access& access = op.access(operand.access);
    for (int k = 0; k < i && where[i] < 0; ++k)
      if (part.operand[k].access >= 0 && op.access(part.operand[k].access).storage == access.storage)
        where[i] = where[k];
    add_use(access, uses[i], operand, i >= part.n_in, where[i]);
  }
  ops_.push_back(&op);
  where_.insert(where_.end(), where, where + part.n);
  append_signature(part, where);
  return true;
}

// Which use of the storage in the group this one is a part of. A use of a part of the storage may be a new one if the
// group uses other parts alone.
int FusedKernel::part_for(Use use, const FusibleOperands::Operand& operand, const Access& access, bool writes) const {
  const StorageUse* known = find(access.storage);
  if (!known) return kNewPart;
  const Region& region = region_of(access);
  int found = kNewPart;
  for (int k = static_cast<int>(known - storages_.data()); k >= 0; k = storages_[k].next_part) {
    const StorageUse& part = storages_[k];
    const bool fits = part.as(use, operand) && use != Use::total;
    if (fits || (!part.written && !writes))
      found = fits || found == kNewPart ? k : found;
    else if (use == Use::total || part.use == Use::total || !part.region->apart(region))
      return kRefused;
  }
  return found;
}

// where: from part_for(); the use's place.
void FusedKernel::add_use(const Access& access, Use use, const FusibleOperands::Operand& operand, bool writes,
                          int& where) {
  Storage* storage = access.storage;
  if (where < 0) {
    where = static_cast<int>(storages_.size());
    if (StorageUse* part = find(storage)) {
      while (part->next_part >= 0) part = &storages_[part->next_part];
      part->next_part = where;
    } else {
      storage->place = static_cast<uint32_t>(where), storage->placed_by = number_;
    }
    storages_.push_back({storage, &region_of(access), -1, use, writes, false, operand.offset,
                         static_cast<int64_t>(item_size(operand.dtype)), ops_.size(), ops_.size(), operand.nest,
                         operand.place, false});
    return;
  }
  StorageUse& known = storages_[where];
  known.last_use = ops_.size();
  if (writes && !known.written) known.first_write = ops_.size();
  if (!known.as(use, operand)) known.use = Use::other, known.mixed = true, known.region = &kWhole;
  known.written = known.written || writes;
}

// Two groups of the same signature do the same with their operands.
void FusedKernel::append_signature(const FusibleOperands& part, const int* where) {
  auto word = [&](auto value) { signature_.push_back(static_cast<uint64_t>(value)); };
  word(reinterpret_cast<uintptr_t>(part.loop.function));
  word(reinterpret_cast<uintptr_t>(part.loop.data));
  word(part.elements);
  word(part.n << 16 | part.n_in << 8 | part.loop.packed << 1 | (part.fold != nullptr));
  if (part.fold) word(part.fold->rows()), word(part.fold->row_length());
  if (part.fold && part.fold->by_rows())  // the plan depends on which of them are the same
    for (const uint64_t each : part.fold->words()) word(each);
  if (part.pieces)
    for (const Piece& piece : *part.pieces) word(piece.bytes), word(piece.pitch);
  for (int i = 0; i < part.n; ++i) {
    const FusibleOperands::Operand& o = part.operand[i];
    // Whether it is the same as another of this storage.
    const int64_t apart = o.access < 0 ? 0 : o.offset - storages_[static_cast<size_t>(where[i])].offset;
    word(static_cast<uint64_t>(where[i] + 1) << 32 | static_cast<uint64_t>(o.dtype) << 16 |
         static_cast<uint64_t>(o.loop_dtype) << 8 | (apart != 0) << 7 | (o.nest ? o.nest->shape.size() : 0));
    if (apart != 0) word(apart);
    if (!o.nest) continue;
    for (int64_t extent : o.nest->shape) word(extent);
    for (int64_t stride : o.nest->strides[o.place]) word(stride);
  }
}

void FusedKernel::resume() {
  for (size_t i = 0; i < storages_.size(); ++i)
    storages_[i].storage->place = static_cast<uint32_t>(i), storages_[i].storage->placed_by = number_;
}

bool FusedKernel::elide(Storage* storage) {
  StorageUse* known = find(storage);
  known->elided = known->use == Use::each && known->written && known->offset == 0 &&
                  known->size * elements_ == static_cast<int64_t>(storage->bytes);
  return known->elided;
}

bool FusedKernel::may_share(Op&, const Storage* in, const Storage* out) const {
  const StorageUse *from = find(in), *to = find(out);
  auto whole = [&](const StorageUse* known) {
    return known->use == Use::each && known->offset == 0 &&
           known->size * elements_ == static_cast<int64_t>(known->storage->bytes);
  };
  return whole(from) && whole(to) && from->last_use <= to->first_write && !from->written;
}

// --- running ---------------------------------------------------------------------------------------------------------

void FusedKernel::plan() {
  if (plan_) {
    plan_ = PlanCache::get().renewed(*this, plan_);
    return;
  }
  uint64_t elided = 0;
  for (const StorageUse& known : storages_) {
    elided = elided << 1 | known.elided;
    if ((&known - storages_.data()) % 64 == 63) signature_.push_back(std::exchange(elided, 0));
  }
  signature_.push_back(elided);
  may_compile_ = CompiledLoops::get().open() && Engine::get().passes.on(Pass::compile);
  signature_.push_back(may_compile_);
  plan_ = PlanCache::get().plan(*this, signature_);
  const int* where = where_.data();
  for (Op* op : ops_) {
    FusibleOperands part;
    kernel_of(*op).fusible_operands(part);
    for (int i = 0; i < part.n; ++i, ++where) {
      const FusibleOperands::Operand& o = part.operand[i];
      if (o.access < 0)
        from_.push_back({nullptr, 0, reinterpret_cast<const char*>(o.scalar->bytes)});
      else if (!storages_[*where].elided)
        from_.push_back({&op->access(o.access), o.offset, nullptr});
    }
    if (part.fold) reductions_.push_back(part.fold), result_sources_.push_back(from_.size() - 1);
  }
}

void FusedKernel::prepare(Op&) {
  plan();
  sources_.clear(), results_.clear(), partials_.clear();
  for (const Source& from : from_)
    sources_.push_back(from.access ? static_cast<Buffer*>(from.access->storage)->data() + from.offset
                                   : const_cast<char*>(from.scalar));
  for (size_t i = 0; i < reductions_.size(); ++i) {
    partials_.push_back(reductions_[i]->partial());
    results_.push_back(sources_[result_sources_[i]]);
  }
}

namespace {

// Fetches lines of the next block, some beside each step.
class Ahead {
 public:
  Ahead(const Plan& plan, const std::vector<char*>& sources, int64_t at, int64_t n) {
    const auto steps = static_cast<int64_t>(plan.steps.size());
    if (at < 0 || plan.walks < kLeastWalks || plan.streams.empty()) return;
    for (const Plan::Stream& s : plan.streams)
      from_[streams_] = sources[static_cast<size_t>(s.source)] + at * s.size, left_[streams_++] = n * s.size;
    share_ = std::max(kLeastAhead, ceil_div(*std::max_element(left_, left_ + streams_), steps * kLine) * kLine);
  }
  void fetch() {
    if (streams_ == 0) return;
    bool more = false;
    for (int i = 0; i < streams_; ++i) {
      const int64_t bytes = std::min(share_, left_[i]);
      for (int64_t b = 0; b < bytes; b += kLine) __builtin_prefetch(from_[i] + b, 0, kIntoL2);
      from_[i] += bytes, left_[i] -= bytes, more = more || left_[i] > 0;
    }
    if (!more) streams_ = 0;
  }

 private:
  int streams_ = 0;
  int64_t share_ = 0;  // bytes of each stream that are fetched beside a step
  const char* from_[Plan::kMostStreams];
  int64_t left_[Plan::kMostStreams];
};

}  // namespace

void FusedKernel::run(Op&, int64_t tile) {
  char* memory = scratch(plan_->scratch_bytes);
  for (size_t i = 0; i < reductions_.size(); ++i) reductions_[i]->begin(tile, results_[i], partials_[i].get());
  const int64_t of_tile = tile_elements();
  Range range = reduction_ ? reduction_->range(tile)
                           : Range{tile * of_tile, std::min(of_tile, elements_ - tile * of_tile), 0, 1, plan_->block};
  if (reduction_ && reduction_->by_rows()) range.block = plan_->block;
  Range block{0, 0};  // that is next
  each_block(range, [&](int64_t at, int64_t n) {
    if (block.length > 0) run_block(tile, block.start, block.length, at, memory);
    block.start = at, block.length = n;
  });
  if (block.length > 0) run_block(tile, block.start, block.length, -1, memory);
  for (size_t i = 0; i < reductions_.size(); ++i) reductions_[i]->end(results_[i], partials_[i].get());
}

namespace {

// The bytes `at` to `at + n` of rows that are made of pieces of arrays. args: these, and where the bytes go.
void join_pieces(const std::vector<Piece>& pieces, char** args, int64_t at, int64_t n) {
  int64_t length = 0;
  for (const Piece& piece : pieces) length += piece.bytes;
  int64_t row = at / length, before = at % length;  // bytes of the row that are not wanted
  for (char* to = args[pieces.size()]; n > 0; ++row)
    for (size_t i = 0; i < pieces.size() && n > 0; ++i) {
      const int64_t skipped = std::min(before, pieces[i].bytes), bytes = std::min(n, pieces[i].bytes - skipped);
      copy_bytes(to, args[i] + row * pieces[i].pitch + skipped, bytes);
      before -= skipped, to += bytes, n -= bytes;
    }
}

}  // namespace

// next: where the next block starts, or -1.
void FusedKernel::run_block(int64_t tile, int64_t at, int64_t n, int64_t next, char* memory) const {
  Ahead ahead(*plan_, sources_, next, n);
  for (const Plan::Step& step : plan_->steps) {
    ahead.fetch();
    int64_t first = at;
    intptr_t count = n;
    if (step.of_rows) first /= reduction_->row_length(), count /= reduction_->row_length();
    if (plan_->pitch && !step.apart)  // to the last element of the last row
      first = at / plan_->row * plan_->pitch, count = (n / plan_->row - 1) * plan_->pitch + plan_->row;
    char* args[kMostStepOperands];
    intptr_t steps[kMostStepOperands];
    for (int i = 0; i < step.n(); ++i) {
      const Plan::Operand& place = step.operands[i];
      steps[i] = place.size;
      const bool whole = place.nest || (i < step.n_in && !step.pieces.empty());
      args[i] = place.value >= 0 ? memory + place.offset : sources_[place.source] + (whole ? 0 : first * place.size);
    }
    for (const Plan::Sum& sum : step.sums)
      args[sum.operand] = reductions_[sum.fold]->begin_sums(tile, at, n, results_[sum.fold], partials_[sum.fold].get());
    if (step.fold >= 0)
      reductions_[step.fold]->fold(tile, at, n, args[0], results_[step.fold], partials_[step.fold].get());
    else if (!step.pieces.empty())
      join_pieces(step.pieces, args, first * steps[step.n_in], count * steps[step.n_in]);
    else if (step.nested)
      run_strided(step, args, steps, first, count);
    else if (step.compiled)
      step.loop.rows(args, 1, count, steps, steps, nullptr);
    else
      step.loop.function(args, &count, steps, step.loop.data);
  }
}

void FusedKernel::run_strided(const Plan::Step& step, char** args, const intptr_t* steps, int64_t at, int64_t n) const {
  const Dims* shape = nullptr;
  const Dims* strides[kMostStepOperands];
  for (int i = 0; i < step.n(); ++i) {
    const Plan::Operand& place = step.operands[i];
    if (place.nest) shape = &place.nest->shape;
    strides[i] = place.nest ? &place.nest->strides[place.place] : nullptr;
  }
  loop_over<kMostStepOperands>(step.loop, step.n(), *shape, strides, args, steps, at, n, step.apart ? plan_->pitch : 0);
}

}  // namespace forerun
