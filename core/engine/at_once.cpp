// Small work is done at once: an operation that costs less than handing it to a worker runs in the thread that issues
// it.
//
// It needs no place in the program's order if nobody can tell: what it reads has been written, nothing under way reads
// or writes what it writes, and the front end's lock keeps other threads from issuing until it has run. So it takes no
// number, and planning never sees it. Only while a profile is recorded it draws a number, for its record; if older
// operations are still to be planned, the window then holds ran_at_once_ in its place.
#include "engine/engine.h"

namespace forerun {

bool Engine::may_run_at_once(Op& op) {
  if (!passes(Pass::at_once) || gate_.load(std::memory_order_relaxed) || op.queue->kind != Queue::Kind::compute)
    return false;
  if (trace.on() && must_wait()) return false;  // its record needs a place in the window
  size_t wants = 0;
  for (int i = 0; i < op.n_access; ++i) {
    const Access& a = op.access(i);
    Storage& s = *a.storage;
    if (!s.settled() || s.failure) return false;
    if (a.mode == Mode::read) continue;
    uint32_t mine = 1;
    for (int k = 0; k < op.n_access; ++k) mine += k != i && op.access(k).storage == &s;
    if (s.unfinished_uses() != mine) return false;
    if (!s.taken())
      wants += s.memory();
    else if (s.bytes > kCopiedAtOnce && !s.unshared())
      return false;  // a fresh block, and a copy of it all
  }
  return wants == 0 || wants + op.budget->occupied() <= op.budget->hard.load(std::memory_order_relaxed);
}

bool Engine::run_at_once(Op* op) {
  uint64_t started = trace.on() ? Trace::now() : 0;
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    if (a.mode == Mode::read) continue;
    if (!a.storage->taken() ? !a.storage->take() : !a.storage->protect(a.mode == Mode::update)) return false;
    a.storage->promised = true;
  }
  op->seq = head_.load(std::memory_order_relaxed);
  op->record = nullptr;
  try {
    run_whole(*op);
  } catch (const RunLater&) {
    return false;
  }
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    if (a.mode == Mode::read) continue;
    Storage& s = *a.storage;
    if (op->failure) [[unlikely]]
      s.spoil(op->region(a), op->failure);
    s.count_write_at_once();
  }
  ++at_once;
  if (started) [[unlikely]]
    note_at_once(*op, started);
  discard(op);
  return true;
}

// Its record, with a number of its own. The lock comes before the number: planning waits for an op whose number is
// drawn.
[[gnu::noinline]] void Engine::note_at_once(Op& op, uint64_t started) {
  Lock held = lock();
  uint64_t seq = head_.fetch_add(1);
  op.seq = seq;
  ++noted_at_once_;
  record_issue(op);
  if (op.record) {
    OpRecord& record = *op.record;
    record.issued = started, record.planned = started, record.started = started;
    record.flags = static_cast<uint8_t>(op.failure ? OpRecord::failed : 0);
    record.live_started = op.budget->live_kib();
    for (int i = 0; i < op.n_access; ++i)
      if (const Access& a = op.access(i); a.mode != Mode::write && a.storage->last_write)
        trace.depends(record, a.storage->last_write);
    trace.named(record, op.kernel()->name());
    this->record(op, nullptr);
  }
  for (int i = 0; i < op.n_access; ++i)
    if (Storage& s = *op.access(i).storage; op.access(i).mode != Mode::read)
      s.drop_sections(), s.last_write = s.last_whole = seq;
  if (planned_.load(std::memory_order_relaxed) != seq)
    return window_[seq].store(&ran_at_once_, std::memory_order_release);
  planned_.store(seq + 1, std::memory_order_relaxed);  // nothing else is left to plan
  advance_front();
  if (!std::exchange(notify_, false)) return;
  held.unlock();
  notify_waiters();
}

}  // namespace forerun
