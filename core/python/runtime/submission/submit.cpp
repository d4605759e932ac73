#include "python/runtime/submission/submit.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/region.h"
#include "engine/engine.h"
#include "placement/placement.h"
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/errors/task_state.h"
#include "python/runtime/submission/accelerators.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/waiting/left_queued.h"
#include "python/runtime/waiting/submission_gate.h"
#include "python/runtime/waiting/wait_log.h"
#include "python/runtime/waiting/wait_loop.h"

namespace forerun {

bool synchronous = false;
constinit thread_local bool in_collective = false;

namespace {

// The ops of one placement are submitted without a wait between them, so that no other thread with the interpreter lock
// submits ops between a copy to the host and the copy back.
constinit thread_local bool placing = false;

class PlacedTogether {
 public:
  ~PlacedTogether() { placing = before_; }

 private:
  const bool before_ = std::exchange(placing, true);
};

// Waits until the window has a free slot, and memory is not the limit. A task must not wait for that: its own op may be
// the one that has not ended.
void wait_for_slot(Engine& engine) {
  if (!in_host_task()) {
    const char* cause = engine.introspection.held_for_memory() ? "bytes full" : "window full";
    logged_wait(cause, [&](auto slice) { return engine.waiter.make_room(slice); });
    return log_wait_for_room(cause);
  }
  if (engine.ring.nearly_full())
    throw Error(ErrorKind::runtime, "issue: a host task must leave room for others, got more than " +
                                        std::to_string(engine.ring.ops_ahead()) + " operations issued since it began");
}

[[noreturn]] void raise_failure(const FailurePtr& failure) {
  set_python_error(*failure);
  throw PythonError{};
}

// The longest wait for a collective in synchronous mode: a peer that waits outside of forerun announces nothing, and
// may reach the collective only after this rank continues.
constexpr std::chrono::seconds kLongestCall{5};

// The outputs of an op, for waiting where each operation is waited for.
class Outputs {
 public:
  // ranks: the lane of an op that depends on other ranks; null: it does not.
  explicit Outputs(Op& op, const Lane* ranks = nullptr) : ranks_(ranks) {
    all_.reserve(static_cast<size_t>(op.n_access));
    for (int i = 0; i < op.n_access; ++i)
      if (op.access(i).mode != Mode::read)
        all_.emplace_back(op.access(i).storage, op.region(op.access(i))), all_.back().first->retain();
      else if (ranks)
        read_.push_back(op.access(i).storage);
  }
  Outputs(const Outputs&) = delete;
  ~Outputs() {
    for (auto& [storage, region] : all_) storage->release();
  }
  // Raises the failure of an output. An op that is blocked on another rank is left queued.
  void wait() {
    Engine& engine = Engine::get();
    const uint64_t end = engine.ring.next();
    bool unfinished = false;
    const auto longest = std::chrono::steady_clock::now() + kLongestCall;
    logged_wait(
        synchronous ? "synchronous" : "memory shared with NumPy",
        [&](auto slice) {
          if (all_.empty()) return engine.waiter.wait_mark(end, slice);
          unfinished = !std::all_of(all_.begin(), all_.end(),
                                    [&](auto& output) { return engine.waiter.wait(*output.first, slice); });
          return !unfinished || (ranks_ && (ranks_->blocked_on_peer() || std::chrono::steady_clock::now() > longest));
        },
        all_.empty() ? nullptr : all_.front().first);
    if (unfinished) return leave();
    for (auto& [storage, region] : all_)
      if (const FailurePtr failure = storage->failure_in(region)) raise_failure(failure);
  }

 private:
  void leave() {
    std::vector<Storage*> written;
    for (auto& [storage, region] : all_) written.push_back(storage);
    leave_queued(std::move(written), std::move(read_));
  }

  std::vector<std::pair<Storage*, Region>> all_;
  std::vector<const Storage*> read_;
  const Lane* ranks_;
};

constexpr size_t kMostCopied = 1 << 16;  // bytes

// A copy of the values, which are computed; null: no memory is left.
Buffer* copy_of(const Buffer& from) {
  Buffer* made = Buffer::make(from.bytes, from.budget);
  made->retain();
  if (!made->take()) return made->release(), nullptr;
  std::memcpy(made->data(), from.data(), from.bytes);
  made->form = from.form, made->materialized = true;
  return made;
}

Buffer& buffer_of(const Access& a) { return *static_cast<Buffer*>(a.storage); }

// Whether the op uses memory that the program may write to, without an operation, as soon as the call returns.
bool uses_aliased(Op& op) {
  if (!Buffer::any_aliased()) [[likely]]
    return false;
  for (int i = 0; i < op.n_access; ++i)
    if (buffer_of(op.access(i)).aliased()) return true;
  return false;
}

// The same, unless the op only reads few bytes of such memory, and gets a copy of them.
bool needs_aliased(Op& op) {
  if (!uses_aliased(op)) return false;
  for (int i = 0; i < op.n_access; ++i) {
    const Buffer& b = buffer_of(op.access(i));
    if (b.aliased() && (op.access(i).mode != Mode::read || b.bytes > kMostCopied || !b.settled() || b.failure))
      return true;
  }
  for (int i = 0; i < op.n_access; ++i) {
    Access& a = op.access(i);
    Buffer& known = buffer_of(a);
    if (!known.aliased()) continue;
    Buffer* own = copy_of(known);
    if (!own) return true;
    a.storage = own;
    known.release();
  }
  return false;
}

// Puts a device into use that was used before the settings changed.
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
    // Only ops that may fail, or are recorded, need their line.
    op->site = op->kernel()->droppable() && !engine.trace.on() ? 0 : current_site();
    if (engine.run_at_once(op)) {
      if (engine.at_once.failure) [[unlikely]]
        raise_failure(std::exchange(engine.at_once.failure, nullptr));
      return cheap ? raise_interruption() : void();
    }
  }
  op->cost = cost;
  op->site = current_site();
  op->inner = in_host_task();
  op->urgent = in_collective;
  const bool full = placing ? engine.ring.nearly_full() : engine.ring.full();
  if (SubmissionGate::is_closed() || full || capture || synchronous) {
    try {
      if (SubmissionGate::is_closed()) SubmissionGate::wait_open(false);
      if (full) wait_for_slot(engine);
      if (capture) capture->add(*op);
    } catch (...) {
      engine.discard(op);
      throw;
    }
  }
  const bool left = synchronous && !placing && (op->elsewhere || is_behind_left_queued(*op));
  if (left) leave_queued(*op);
  const bool waits = synchronous || needs_aliased(*op);
  if (!waits || placing || left) {
    if (engine.issue(op) % Waiter::kKeepUp == 0) engine.waiter.keep_up();
    return;
  }
  Lane* const lane = op->queue->lane;
  Outputs outputs(*op, lane == between_ranks ? lane : nullptr);
  engine.issue(op);
  outputs.wait();
}

void issue(Op* op, int device, Queue::Kind kind, bool cheap) {
  const bool known = has_accelerators && kind == Queue::Kind::compute && !synchronous && place_again(*op, device);
  if (has_accelerators && !known) [[unlikely]] {
    const char* name = op->kernel()->name();
    Engine& engine = Engine::get();
    if (engine.ring.full()) {
      try {
        wait_for_slot(engine);
      } catch (...) {
        engine.discard(op);
        throw;
      }
    }
    std::optional<Outputs> outputs;
    const bool left = synchronous && is_behind_left_queued(*op);
    if (left) leave_queued(*op);
    if ((synchronous || uses_aliased(*op)) && !left) outputs.emplace(*op);
    PlacedTogether together;
    const Placed placed = place(op, device, kind, [](Op* each, int where, Queue::Kind queue, int memory) {
      issue_placed(each, where, queue, memory);
    });
    if (placed == Placed::on_host) note_fallback(name);
    if (placed != Placed::as_it_is) return outputs ? outputs->wait() : void();
  }
  issue_placed(op, device, kind, device, cheap && !known);
}

}  // namespace forerun
