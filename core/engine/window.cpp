// Issue: ops enter the window. And the ops' own memory, which is used again and again.
#include <algorithm>

#include "base/free_list.h"
#include "engine/engine.h"

namespace forerun {

Access& Op::spill() {
  more_access_.emplace_back();
  return more_access_.back();
}

Engine& Engine::get() {
  static Engine* engine = new Engine;  // never destroyed: threads may outlive static destructors
  return *engine;
}

namespace {

FailurePtr no_memory() {
  auto made = std::make_shared<Failure>();
  made->kind = ErrorKind::memory;
  made->message = "memory: none is left, not even for the message of what failed";
  return made;
}

}  // namespace

Engine::Engine() : no_memory_(no_memory()) {
  window_.resize(kLeastRing);
  unseen_.reserve(kMostUnseen);
}

Op* Engine::make_op() {
  Op* op = FreeList<Op>::take();
  return op ? op : FreeList<Op>::made(new Op);
}

void Engine::recycle(Op* op) {
  op->drop_kernel();  // of an op that was dropped
  op->reset();
  FreeList<Op>::give(op);
}

void Engine::discard(Op* op) {
  op->drop_kernel();
  for (int i = 0; i < op->n_access; ++i) op->access(i).storage->release();
  recycle(op);
}

// Apart from issue(), which it would slow down while nothing is recorded.
[[gnu::noinline]] void Engine::record_issue(Op& op) {
  if (!(op.record = trace.place(op.seq))) return;
  OpRecord& record = *op.record;
  record.issued = Trace::now(), record.planned = 0, record.started = 0, record.ended = 0;
  record.seq = op.seq, record.site = op.site, record.issuer = Trace::thread_number();
  record.device = static_cast<uint8_t>(op.queue->device), record.queue = static_cast<uint8_t>(op.queue->kind);
  record.flags = 0, record.n_deps = 0, record.group = 0, record.dtype = 0, record.ndim = 0, record.name = 0;
  for (int i = 0; i < op.n_access; ++i) {
    if (op.access(i).mode == Mode::read) continue;
    const Storage& output = *op.access(i).storage;
    if (output.issued.load(std::memory_order_relaxed) > 1 || output.form.dtype == Form::kNone)
      return;  // it may write a part
    record.dtype = static_cast<uint8_t>(1 + output.form.dtype), record.ndim = output.form.ndim;
    static_assert(Form::kExtents == OpRecord::kDims);
    std::copy_n(output.form.extents, Form::kExtents, record.dims);
    return;
  }
}

// With wake(), sleep() and serve() modelled in tests/model/wake.py.
uint64_t Engine::issue(Op* op) {
  for (int i = 0; i < op->n_access; ++i)
    if (op->access(i).mode != Mode::read) op->access(i).storage->issued.fetch_add(1, std::memory_order_relaxed);
  // The ticket comes before the look at who sleeps, and a worker counts itself as sleeping before it looks at the
  // tickets (both seq_cst): one of the two sees the other.
  uint64_t seq = head_.fetch_add(1);
  Queue* queue = op->queue;
  op->seq = seq;
  op->record = nullptr;
  if (trace.on()) [[unlikely]]
    record_issue(*op);
  // Several issuing threads may lose a little of the sum; the worker that dozes looks by itself.
  if (op->cost > kTinyCost)
    unseen_cost_.store(unseen_cost_.load(std::memory_order_relaxed) + op->cost, std::memory_order_relaxed);
  window_[seq].store(op, std::memory_order_release);
  if (queue->sleeping.load() > 0 &&
      (queue->dozing.load() == 0 || unseen_cost_.load(std::memory_order_relaxed) >= kWakeCost))
    wake(*queue);
  return seq;
}

void Engine::wake(Queue& queue) {
  if (queue.looking.load() > 0) return;  // it will look at the window before it sleeps or takes up something long
  if (queue.called.load()) return;
  Lock held = lock();
  if (!started_) {
    start_all();
  } else if (queue.sleeping.load() > 0) {
    queue.called.store(true);
    queue.sleepers.wake_one(places_);
  }
}

}  // namespace forerun
