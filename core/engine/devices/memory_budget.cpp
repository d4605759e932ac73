#include "engine/devices/memory_budget.h"

#include <algorithm>

namespace forerun {

void MemoryBudget::charge(size_t bytes) {
  size_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes, most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

namespace {

// Bytes that are freed when `op` ends: no handle refers to them and no later op uses them. `read`: also counts values
// with a handle that are read here for the last time, as far as is known: mostly temporaries that the front end is
// about to release.
size_t frees(Op& op, bool read, size_t* written = nullptr) {
  size_t bytes = 0;
  for (int i = 0; i < op.n_access; ++i) {
    const Access& a = op.access(i);
    if (a.storage->in_group++ > 0)
      continue;  // seen before; not compared with all other accesses, as there may be very many
    if (a.storage->budget != op.budget || a.storage->last_use != op.seq) continue;
    if (!a.storage->only_ops(a.storage->uses) && !(read && a.storage->last_write != op.seq)) continue;
    bytes += a.storage->charged();
    if (written && a.mode != Mode::read) *written += a.storage->charged();
  }
  for (int i = 0; i < op.n_access; ++i) op.access(i).storage->in_group = 0;
  return bytes;
}

}  // namespace

void MemoryBudget::planned(Op* op, bool on_files) {
  for (int i = 0; on_files && i < op->n_access; ++i) op->files += op->access(i).storage->charged();
  files_ += op->files;
  order_.push_back(op), ++listed_;
  unstarted_demand_ += op->wants = needs(*op);
}

void MemoryBudget::take_out(Op* op) {
  order_.remove(op), --listed_;
  ahead_ -= op->ahead, freed_early_ -= op->freed;
  done_.push_back(op);
}

size_t MemoryBudget::needs(Op& op) {
  size_t bytes = 0;
  for (int i = 0; i < op.n_access; ++i)
    if (op.access(i).mode != Mode::read && !op.access(i).storage->materialized)
      bytes += op.access(i).storage->charged();
  return bytes;
}

size_t MemoryBudget::wanted_before(const Op& op) const {
  size_t bytes = 0;
  int looked = 0;
  for (Op* other = order_.front(); other && other->seq < op.seq; other = other->next_planned) {
    if (++looked > kLookAhead) return SIZE_MAX;
    if (!other->started && !other->ended) bytes += needs(*other);
  }
  return bytes;
}

const Op* MemoryBudget::first() const {
  const Op* op = order_.front();
  while (op && (op->ended || (op->started && op->is_task()))) op = op->next_planned;
  return op;
}

const Op* MemoryBudget::first_unstarted() const {
  const Op* op = order_.front();
  while (op && (op->started || op->ended)) op = op->next_planned;
  return op;
}

bool MemoryBudget::admits(Op& op) {
  size_t now = occupied(), want = op.to_take;
  if (want == 0 || oldest(op) || op.inner) return true;
  if (now + want > soft.load(std::memory_order_relaxed)) return false;
  // If all ops might not fit, only the complete check (fits) ensures that the op does not take memory that an older op
  // will need.
  if (ahead_ + want <= slack(peak_in_order_) && now + unstarted_demand_ <= hard.load(std::memory_order_relaxed))
    return true;
  size_t transient = 0;
  frees(op, false, &transient);
  if (transient == want) return true;  // nothing reads it: it is freed as soon as it is written
  // The complete check is not repeated before half as many ops have ended as are listed, while one runs that will end.
  if (ended_ < op.recheck_at && running > tasks) return false;
  if (fits(op)) return true;
  op.recheck_at = ended_ + (listed_ + 1) / 2;
  return false;
}

bool MemoryBudget::over(const Op& op) const {
  size_t now = occupied(), limit = hard.load(std::memory_order_relaxed);
  return now + op.to_take > std::min(soft.load(std::memory_order_relaxed), limit) || now + unstarted_demand_ > limit;
}

bool MemoryBudget::fits(Op& op) const {
  size_t now = occupied(), want = op.to_take;
  // level: the bytes that will be live if the rest up to `op` runs in order, op after op; in_order: those that would be
  // live if all ops had run in order.
  size_t level = now, most = now, in_order = this->live_in_order(now), usual = in_order;
  int looked = 0;
  for (Op* other = order_.front(); other != &op; other = other->next_planned) {
    if (++looked > kLookAhead) return false;
    size_t more = other->started ? 0 : needs(*other);
    level += more, in_order += more + other->ahead;
    most = std::max(most, level), usual = std::max(usual, in_order);
    if (!other->ended) level -= std::min(level, frees(*other, false));
    in_order -= std::min(in_order, other->ended ? other->freed : frees(*other, true));
  }
  size_t allowed = std::max({peak_in_order_, usual, in_order + want});
  return most + want <= std::min(allowed + slack(allowed), hard.load(std::memory_order_relaxed));
}

bool MemoryBudget::admits_group(Op& first, size_t own) const {
  size_t want = first.to_take, all = occupied() + want,
         allowed = std::max(peak_in_order_, live_in_order(occupied()) + own);
  if (want <= own) return true;
  if (all > std::min(soft.load(std::memory_order_relaxed), hard.load(std::memory_order_relaxed))) return false;
  return all <= allowed + slack(allowed) || all <= group_peak_in_order(first) + want / 16;
}

size_t MemoryBudget::group_peak_in_order(Op& first) const {
  for (const Op* op = order_.front(); op != &first; op = op->next_planned)
    if (!op->started && !op->ended) return 0;
  size_t level = occupied(), most = level;
  auto each_storage = [&](auto f) {
    const Op* end = first.members.back()->next_planned;
    for (Op* op = &first; op != end; op = op->next_planned)
      for (int i = 0; i < op->n_access && !op->ended; ++i)
        if (Storage& s = *op->access(i).storage; s.budget == this) f(s);
  };
  each_storage([&](Storage& s) {  // the first op that uses a storage without memory writes it
    const size_t bytes = s.materialized ? s.charged() : s.memory();
    if (!s.materialized && s.in_group == 0) most = std::max(most, level += bytes);
    if (++s.in_group == s.uses && s.only_ops(s.uses)) level -= std::min(level, bytes);
  });
  each_storage([](Storage& s) { s.in_group = 0; });
  return most;
}

void MemoryBudget::starts(Op& op, size_t own) {
  ++running, tasks += op.may_wait();
  unstarted_demand_ -= op.wants;
  size_t before = occupied();
  reserved.fetch_add(op.to_take, std::memory_order_relaxed);
  if (!oldest(op))
    own = 0;
  else
    peak_in_order_ = std::max(peak_in_order_, live_in_order(before) + own);
  op.ahead = op.to_take - std::min(own, op.to_take);
  ahead_ += op.ahead;
}

void MemoryBudget::undo_start(Op& op) {
  --running, tasks -= op.may_wait();
  unstarted_demand_ += op.wants;
  ahead_ -= op.ahead;
  op.ahead = 0;
}

void MemoryBudget::ends(Op& op) {
  if (op.started)
    --running, tasks -= op.may_wait();
  else
    unstarted_demand_ -= op.wants;
  op.ended = true, ++ended_;
  files_ -= op.files;
  freed_early_ += op.freed;
  if (op.next_planned && op.next_planned->ended) merge_next(&op);
  if (op.before_planned && op.before_planned->ended) merge_next(op.before_planned);
  if (order_.front()->ended) take_out(order_.front());
  if (order_.empty()) peak_in_order_ = 0;  // the next op starts a new peak
}

// Merges two neighbours that have ended.
void MemoryBudget::merge_next(Op* op) {
  Op* next = op->next_planned;
  size_t first = op->ahead,
         // the sum of both after the first has released its memory
      second = op->ahead + next->ahead - std::min(op->ahead + next->ahead, op->freed);
  size_t all = op->ahead + next->ahead, back = op->freed + next->freed, most = std::max(first, second);
  ahead_ += most - op->ahead, freed_early_ += most + back - all - op->freed;
  op->ahead = most, op->freed = most + back - all;
  take_out(next);
}

Op* MemoryBudget::retire() { return done_.empty() ? nullptr : done_.pop_front(); }

}  // namespace forerun
