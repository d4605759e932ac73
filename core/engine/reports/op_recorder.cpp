#include "engine/reports/op_recorder.h"

#include <algorithm>

#include "engine/devices/memory_budget.h"
#include "engine/devices/queue.h"

namespace forerun {

// Separate from Engine::issue(), which it would slow down while nothing is recorded.
[[gnu::noinline]] void OpRecorder::submitted(Op& op) {
  if (!(op.record = trace_.place(op.seq))) return;
  OpRecord& record = *op.record;
  record.issued = Trace::now(), record.planned = 0, record.started = 0, record.ended = 0;
  record.seq = op.seq, record.site = op.site, record.issuer = Trace::thread_number();
  record.device = static_cast<uint8_t>(op.queue->device), record.queue = static_cast<uint8_t>(op.queue->kind);
  record.flags = 0, record.n_deps = 0, record.group = 0, record.dtype = 0, record.ndim = 0, record.name = 0;
  for (int i = 0; i < op.n_access; ++i) {
    if (op.access(i).mode == Mode::read) continue;
    const Storage& output = *op.access(i).storage;
    if (output.issued.load(std::memory_order_relaxed) > 1 || output.form.dtype == DebugShape::kNone)
      return;  // it may write a part
    record.dtype = static_cast<uint8_t>(1 + output.form.dtype), record.ndim = output.form.ndim;
    static_assert(DebugShape::kExtents == OpRecord::kDims);
    std::copy_n(output.form.extents, DebugShape::kExtents, record.dims);
    return;
  }
}

[[gnu::noinline]] void OpRecorder::reads(Op& op) {
  for (int i = 0; i < op.n_access; ++i)
    if (const Access& a = op.access(i); a.mode != Mode::write)
      each_write_read(a, [&](uint64_t seq) { trace_.depends(*op.record, seq); });
}

void OpRecorder::planned(Op& op, uint64_t now) { op.record->planned = now, trace_.named(*op.record, op.name); }

// The times of a group are those of its first op.
void OpRecorder::ended(const Op& op, const Op* first) {
  OpRecord& record = *op.record;
  if (first && first != &op && first->record)
    record.started = first->record->started, record.live_started = first->record->live_started;
  if (first) record.group = static_cast<uint32_t>(op.seq - first->seq);
  record.flags = static_cast<uint8_t>(record.flags | (op.dropped ? OpRecord::dropped : 0) |
                                      (op.failure ? OpRecord::failed : 0) | (first ? OpRecord::grouped : 0));
  record.bytes = op.to_take, record.live_ended = op.budget->live_kib(), record.thread = Trace::thread_number();
  record.ended = Trace::now();
}

void OpRecorder::ran_at_once(Op& op, uint64_t started) {
  submitted(op);
  if (!op.record) return;
  OpRecord& record = *op.record;
  record.issued = started, record.planned = started, record.started = started;
  record.flags = static_cast<uint8_t>(op.failure ? OpRecord::failed : 0);
  record.live_started = op.budget->live_kib();
  for (int i = 0; i < op.n_access; ++i)
    if (const Access& a = op.access(i); a.mode != Mode::write && a.storage->last_write)
      trace_.depends(record, a.storage->last_write);
  trace_.named(record, op.kernel()->name());
  ended(op, nullptr);
}

}  // namespace forerun
