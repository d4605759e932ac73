#include "python/runtime/wait.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/errors/task_state.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/waiting/submission_gate.h"
#include "python/runtime/waiting/wait_log.h"
#include "python/runtime/waiting/wait_loop.h"

namespace forerun {

namespace {

// Work that the thread left to itself before a wait is left to workers when the wait ends, also by an exception.
struct Leftovers {
  bool any = false;
  ~Leftovers() {
    if (any) Engine::get().pool.wake_for_leftovers();
  }
};

// `what`: the cause, if the wait is not a call of the program.
void wait_settled(const Array& array, const char* what = nullptr) {
  Storage& storage = *array.storage();
  if (storage.settled()) return what ? void() : found_there("wait");
  LoggedWait wait(what);
  Leftovers left;
  if (!engine_abandoned()) left.any = Engine::get().waiter.settle_small(storage, Dispatcher::Then::help);
  while (!storage.settled())
    wait_with_signals("wait", [&](auto slice) { return Engine::get().waiter.wait(storage, slice); }, &storage);
  wait.on(storage.last_write);
}

constexpr const char* kReadOfNumpy = "read of an array of NumPy";  // the cause of a wait

void must_not_be_in_task(const char* what) {
  if (in_host_task())
    throw Error(ErrorKind::runtime,
                std::string(what) + ": must not be called in a host task, which would wait for its own end");
}

}  // namespace

void wait_for(const Array& array) {
  refuse_in_capture("reading the value of an array");
  wait_until_written(array);
}

void wait_until_written(const Array& array) {
  wait_settled(array);
  check_failure(array);
}

void wait_for_end(const Array& array) { wait_settled(array, kReadOfNumpy); }

bool all_end_within(int64_t microseconds) {
  constexpr int64_t kShortest = 100;  // a wait looks for work for at least that long
  Engine& engine = Engine::get();
  const uint64_t mark = engine.ring.next();
  if (engine.ring.has_ended(mark)) return true;
  LoggedWait wait(kReadOfNumpy);
  Leftovers left;
  const auto then = microseconds < kShortest ? Dispatcher::Then::go_on : Dispatcher::Then::help;
  left.any = engine.waiter.settle_small(mark, then);
  if (microseconds >= kShortest && !engine.ring.has_ended(mark)) {
    Unlocked unlocked;
    engine.waiter.wait_mark(mark, std::chrono::microseconds{microseconds}, static_cast<uint32_t>(microseconds * 1000));
  }
  return engine.ring.idle();
}

void wait_for(const std::vector<Array>& arrays) {
  std::vector<FailurePtr> failures;
  std::optional<LoggedWait> wait;  // one for all arrays
  for (const Array& a : arrays) {
    refuse_in_capture("reading the value of an array");
    if (!wait && !a.storage()->settled()) wait.emplace();
    wait_settled(a);
    if (FailurePtr failure = a.failure()) failures.push_back(std::move(failure));
  }
  raise_failures(failures);
}

void wait_mark(uint64_t mark, const char* what) {
  must_not_be_in_task("waitall");
  if (Engine::get().ring.has_ended(mark)) return what ? void() : found_there("waitall");
  BlockingCall call("waitall");
  LoggedWait wait(what);
  wait_with_signals("waitall", [&](auto slice) { return Engine::get().waiter.wait_mark(mark, slice); });
}

void wait_all(uint64_t mark, const char* what) {
  refuse_in_capture("waiting for all operations");
  wait_mark(mark, what);
  FailureLog::Unseen unseen = Engine::get().failures.take_unseen();
  raise_failures(unseen.failures, unseen.unkept);
}

void quiesce() {
  must_not_be_in_task("configure");
  Engine& engine = Engine::get();
  ClosedGate closed;
  for (;;) {
    wait_mark(engine.ring.next());
    try {
      wait_with_signals("waitall", [&](auto slice) { return engine.stop_workers(slice); });
    } catch (...) {
      engine.resume_workers();
      throw;
    }
    if (engine.at_rest()) return;
    engine.pool.start();  // another thread has passed the gate, and issued more
  }
}

}  // namespace forerun
