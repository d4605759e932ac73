#include "engine/introspection.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace forerun {

EngineStats Introspection::stats() {
  Lock held = mutex_.lock();
  const uint64_t extra = at_once_.without_number();
  return {ring_.next() - 1 + extra,
          ring_.planned() - 1 + extra,
          graph_.ended() + at_once_.count,
          failures_.count(),
          waiter_.waits(),
          dispatcher_.helped(),
          scheduler_.dead_ops().count(),
          scheduler_.fusion().groups(),
          scheduler_.fusion().fused_ops(),
          scheduler_.fusion().elided_bytes(),
          scheduler_.buffer_reuse().bytes(),
          at_once_.count};
}

Pending Introspection::describe(Op* op, uint64_t seq, uint64_t planned) {
  auto state = seq >= planned                 ? Pending::State::issued
               : op->started                  ? Pending::State::running
               : op->pending_dependencies > 0 ? Pending::State::waiting
                                              : Pending::State::ready;
  const char* name = seq >= planned ? op->kernel()->name() : op->name;
  return {state,
          seq,
          0,
          name,
          op->site,
          op->queue->device,
          static_cast<int>(op->queue->kind),
          op->started ? 0 : MemoryBudget::needs(*op)};
}

std::vector<Pending> Introspection::pending(size_t most) {
  Lock held = mutex_.lock();
  std::vector<Pending> all;
  const uint64_t planned = ring_.planned();
  for (uint64_t seq = ring_.front(), next = ring_.next(); seq < next && all.size() < most; ++seq) {
    Op* op = ring_.peek(seq);
    if (op && !op->dropped) all.push_back(describe(op, seq, planned));
  }
  for (uint64_t seq = ring_.front(); seq < planned; ++seq) {
    Op* op = ring_.op(seq);
    for (Edge* edge : op ? op->successors : decltype(op->successors){}) {
      auto at = std::lower_bound(all.begin(), all.end(), edge->dependent->seq,
                                 [](const Pending& one, uint64_t seq) { return one.seq < seq; });
      if (at != all.end() && at->seq == edge->dependent->seq && at->after == 0) at->after = seq;
    }
  }
  return all;
}

std::vector<Needed> Introspection::needed(const std::vector<const Storage*>& results, size_t most) {
  Lock held = mutex_.lock();
  std::unordered_map<const Storage*, uint64_t> writers;  // the last write of each storage so far
  std::unordered_map<uint64_t, uint64_t> groups;
  std::vector<Needed> all;
  const uint64_t planned = ring_.planned();
  for (uint64_t seq = ring_.front(), next = ring_.next(); seq < next; ++seq) {
    Op* op = ring_.peek(seq);
    if (!op || op->dropped) continue;
    Needed& one = all.emplace_back(Needed{describe(op, seq, planned)});
    for (int i = 0; i < op->n_access; ++i)
      if (auto at = writers.find(op->access(i).storage); op->access(i).mode != Mode::write && at != writers.end())
        one.reads.push_back(at->second);
    for (int i = op->n_access - 1; i >= 0; --i)
      if (op->access(i).mode != Mode::read)
        writers[op->access(i).storage] = seq, one.form = op->access(i).storage->form;
    if (seq >= planned) continue;
    for (Op* member : op->members) groups[seq] = groups[member->seq] = seq;
  }
  std::unordered_set<uint64_t> wanted;
  for (const Storage* storage : results)
    if (auto at = writers.find(storage); at != writers.end()) wanted.insert(at->second);
  size_t first = all.size();
  for (size_t n = 0; first > 0 && n < most;)
    if (wanted.count(all[--first].seq)) wanted.insert(all[first].reads.begin(), all[first].reads.end()), ++n;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
  std::erase_if(all, [&](const Needed& one) { return !wanted.count(one.seq); });
  for (Needed& one : all)
    if (auto at = groups.find(one.seq); at != groups.end()) one.group = at->second;
  return all;
}

uint64_t Introspection::writer(const Storage& storage) {
  Lock held = mutex_.lock();
  for (uint64_t seq = ring_.next(); --seq >= ring_.front();) {
    Op* op = ring_.peek(seq);
    for (int i = 0; op && !op->dropped && i < op->n_access; ++i)
      if (op->access(i).storage == &storage && op->access(i).mode != Mode::read) return seq;
  }
  return 0;
}

bool Introspection::held_for_memory() {
  Lock held = mutex_.lock();
  return std::any_of(devices_.queues().begin(), devices_.queues().end(), [](Queue* q) {
    return q->seems_busy() && q->refused.load(std::memory_order_relaxed) && q->over.load(std::memory_order_relaxed);
  });
}

bool Introspection::cores_taken() {
  Lock held = mutex_.lock();
  return scheduler_.cores_taken();
}

int Introspection::record_into(const char* path) {
  return trace_.start(path, ring_.next(), ring_.front(), scheduler_.cores());
}

// Threads that submit or run an op meanwhile write to a record, which is kept until the op has ended.
std::string Introspection::take_record() {
  trace_.stop();
  uint64_t next = ring_.next();
  return trace_.take(next, ring_.front());
}

}  // namespace forerun
