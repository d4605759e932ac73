#include "python/runtime/waiting/wait.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/capture/capture.h"
#include "python/object/array_arguments.h"
#include "python/runtime/errors.h"
#include "python/runtime/gil.h"
#include "python/runtime/submission_gate.h"
#include "python/runtime/task_state.h"
#include "python/runtime/waiting/wait_log.h"
#include "python/runtime/waiting/wait_loop.h"

namespace forerun {

namespace {

void wait_settled(const Array& array) {
  Storage& storage = *array.storage();
  if (storage.settled()) return found_there("wait");
  LoggedWait wait;
  if (!engine_abandoned()) Engine::get().waiter.settle_small(storage);
  while (!storage.settled())
    wait_with_signals("wait", [&](auto slice) { return Engine::get().waiter.wait(storage, slice); }, &storage);
  wait.on(storage.last_write);
}

void must_not_be_in_task(const char* what) {
  if (in_host_task())
    throw Error(ErrorKind::runtime,
                std::string(what) + ": must not be called in a host task, which would wait for its own end");
}

}  // namespace

void wait_for(const Array& array) {
  refuse_in_capture("read of an array");
  wait_until_written(array);
}

void wait_until_written(const Array& array) {
  wait_settled(array);
  check_failure(array);
}

void wait_for(const std::vector<Array>& arrays) {
  std::vector<FailurePtr> failures;
  std::optional<LoggedWait> wait;  // one for all of them
  for (const Array& a : arrays) {
    refuse_in_capture("read of an array");
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
  refuse_in_capture("wait");
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
    engine.pool.start();  // somebody has come through, and issued more
  }
}

void init_wait(nb::module_& m) {
  m.def(
      "wait", [](nb::handle arrays) { wait_for(args("wait", arrays)); },
      "Waits for several arrays; several failures are raised as a group.");
  m.def(
      "wait_until_written", [](nb::handle array) { wait_until_written(arg("wait", array)); },
      "Waits for an array whose values make no difference, also while a program is recorded.");
  m.def("waitall", [] { wait_all(Engine::get().ring.next()); });
  m.def(
      "waitall_at_end",
      [](bool raises) { (raises ? wait_all : wait_mark)(Engine::get().ring.next(), "end of the recording"); },
      nb::arg("raises") = true,
      "The same, as a part of the recording and not of the program; without `raises`, failures stay unseen.");
  m.def("mark", [] { return Engine::get().ring.next(); }, "Number of the next op.");
  m.def("wait_mark", [](uint64_t mark) { wait_mark(mark); }, "Waits for all ops issued before a mark.");
  m.def(
      "waitall_before", [](uint64_t mark) { wait_all(mark); },
      "The same, and raises failures that have not been raised.");
  m.def(
      "gate", [](bool closed) { without_lock([&] { Engine::get().gate(closed); }); },
      "Closed: nothing is planned or started.");
  m.def("quiesce", quiesce, "Waits for all work and ends the workers; they start again with the next op.");
}

}  // namespace forerun
