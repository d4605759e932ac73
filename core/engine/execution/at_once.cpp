#include "engine/execution/at_once.h"

namespace forerun {

bool AtOnceRunner::may_run(Op& op) {
  if (!may() || op.queue->kind != Queue::Kind::compute || op.queue->lane) return false;
  if (recorder_.on() && ring_.full()) return false;  // its record needs a number
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
    else if (s.bytes > kMostCopied && !s.unshared())
      return false;  // a fresh block, and a copy of all old values
  }
  if (wants > kMostAhead && !ring_.idle()) return false;
  return wants == 0 || wants + op.budget->occupied() <= op.budget->hard.load(std::memory_order_relaxed);
}

bool AtOnceRunner::run(Op& op) {
  uint64_t started = recorder_.now();
  for (int i = 0; i < op.n_access; ++i) {
    Access& a = op.access(i);
    if (a.mode == Mode::read) continue;
    if (started && !a.storage->taken()) op.to_take += a.storage->charged();
    if (!a.storage->taken() ? !a.storage->take() : !a.storage->protect(a.mode == Mode::update)) return false;
    a.storage->materialized = true;
  }
  op.seq = ring_.next(std::memory_order_relaxed);
  op.record = nullptr;
  try {
    executor_.run_whole(op, count);
  } catch (const RunLater&) {
    return false;
  }
  for (int i = 0; i < op.n_access; ++i) {
    Access& a = op.access(i);
    if (a.mode == Mode::read) continue;
    Storage& s = *a.storage;
    if (op.failure && !raises) [[unlikely]]
      s.poison(op.region(a), op.failure);
    s.count_write_at_once();
  }
  ++count;
  if (started) [[unlikely]]
    record(op, started);
  if (raises && op.failure) [[unlikely]]
    failure = std::move(op.failure);
  return true;
}

// The lock is taken before the number: planning waits for an op whose number is drawn.
[[gnu::noinline]] void AtOnceRunner::record(Op& op, uint64_t started) {
  Lock held = mutex_.lock();
  const uint64_t seq = op.seq = ring_.draw_number();
  ++numbered_;
  recorder_.ran_at_once(op, started);
  for (int i = 0; i < op.n_access; ++i)
    if (Storage& s = *op.access(i).storage; op.access(i).mode != Mode::read)
      s.drop_sections(), s.last_write = s.last_whole = seq;
  if (ring_.planned() != seq) return ring_.put(seq, SubmissionRing::ended_already());
  ring_.set_planned(seq + 1);  // no other op is left to plan
  graph_.advance_front();
  if (!notifier_.take_due()) return;
  held.unlock();
  notifier_.notify();
}

}  // namespace forerun
