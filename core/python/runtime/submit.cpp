#include "python/runtime/submit.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/region.h"
#include "engine/engine.h"
#include "placement/placement.h"
#include "python/capture/capture.h"
#include "python/ops/host_task.h"
#include "python/runtime/accelerators.h"
#include "python/runtime/call_site.h"
#include "python/runtime/errors.h"
#include "python/runtime/submission_gate.h"
#include "python/runtime/waiting/wait_log.h"
#include "python/runtime/waiting/wait_loop.h"

namespace forerun {

bool synchronous = false;
constinit thread_local bool exchanging = false;

namespace {

// A task must not wait for room: its own op may be the one that has not ended.
void find_room(Engine& engine) {
  if (!in_host_task()) {
    const char* cause = engine.introspection.held_for_memory() ? "bytes full" : "window full";
    logged_wait(cause, [&](auto slice) { return engine.waiter.make_room(slice); });
    return log_wait_for_room(cause);
  }
  if (engine.ring.nearly_full())
    throw Error(ErrorKind::runtime, "issue: a host task must leave room for others, got more than " +
                                        std::to_string(engine.ring.ops_ahead()) + " operations issued since it began");
}

// A device that was used before the settings changed.
void use_again(Engine& engine, Op* op, int device) {
  try {
    engine.use_device(device);
  } catch (...) {
    engine.discard(op);
    throw;
  }
}

}  // namespace

void issue_placed(Op* op, int device, Queue::Kind kind, int memory, bool cheap) {
  Engine& engine = Engine::get();
  Device& d = engine.devices[device];
  if (!d.used.load(std::memory_order_relaxed)) [[unlikely]]
    use_again(engine, op, device);
  op->queue = (kind == Queue::Kind::compute ? d.compute : kind == Queue::Kind::copy ? d.copy : d.io).get();
  op->budget = engine.devices[memory].budget.get();
  const uint32_t cost = op->cost;
  if (cheap) op->cost = 0;
  if (engine.at_once.fits(*op) && !SubmissionGate::is_closed() && !capture && !synchronous) {
    // Only what may fail, or is recorded, must know its line.
    op->site = op->kernel()->droppable() && !engine.trace.on() ? 0 : current_site();
    if (engine.run_at_once(op)) return cheap ? raise_interruption() : void();
  }
  op->cost = cost;
  op->site = current_site();
  op->inner = in_host_task();
  op->urgent = exchanging;
  std::vector<std::pair<Storage*, Region>> outputs;
  if (SubmissionGate::is_closed() || engine.ring.full() || capture || synchronous) {
    try {
      if (SubmissionGate::is_closed()) SubmissionGate::wait_open(false);
      if (engine.ring.full()) find_room(engine);
      if (synchronous) outputs.reserve(static_cast<size_t>(op->n_access));
      if (capture) capture->add(*op);
    } catch (...) {
      engine.discard(op);
      throw;
    }
  }
  if (!synchronous) {
    if (engine.issue(op) % Waiter::kKeepUp == 0) engine.waiter.keep_up();
    return;
  }
  for (int i = 0; i < op->n_access; ++i)
    if (op->access(i).mode != Mode::read)
      outputs.emplace_back(op->access(i).storage, op->region(op->access(i))), outputs.back().first->retain();
  uint64_t seq = engine.issue(op);
  FailurePtr failure;
  auto end = [&](bool look) {
    for (auto& [s, region] : outputs) {
      if (look && !failure) failure = s->failure_in(region);
      s->release();
    }
  };
  try {
    logged_wait(
        "synchronous",
        [&](auto slice) {
          if (outputs.empty()) return engine.waiter.wait_mark(seq + 1, slice);
          return std::all_of(outputs.begin(), outputs.end(),
                             [&](auto& output) { return engine.waiter.wait(*output.first, slice); });
        },
        outputs.empty() ? nullptr : outputs.front().first);
  } catch (...) {
    end(false);  // it may still run
    throw;
  }
  end(true);
  if (failure) {
    set_python_error(*failure);
    throw PythonError{};
  }
}

void issue(Op* op, int device, Queue::Kind kind, bool cheap) {
  if (has_accelerators) [[unlikely]] {
    const char* name = op->kernel()->name();
    const Placed placed = place(op, device, kind, [](Op* each, int where, Queue::Kind queue, int memory) {
      issue_placed(each, where, queue, memory);
    });
    if (placed == Placed::on_host) note_fallback(name);
    if (placed != Placed::as_it_is) return;
  }
  issue_placed(op, device, kind, device, cheap);
}

}  // namespace forerun
