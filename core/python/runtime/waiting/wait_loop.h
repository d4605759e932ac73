// Waits in slices, between which signals are checked.
#pragma once
#include <Python.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <optional>

#include "engine/engine.h"
#include "engine/execution/task_wait.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/errors/task_state.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/waiting/left_queued.h"
#include "python/runtime/waiting/stall_watchdog.h"
#include "python/runtime/waiting/submission_gate.h"
#include "python/runtime/waiting/wait_log.h"

namespace forerun {

// In a host task: throws if the wait ends, or the storage is settled, only after the task's end, as far as is known
// now.
void must_not_wait_for_itself(TaskWait& wait);
void must_not_wait_for_itself(Storage& storage);

// Repeats `wait(slice)` without the interpreter lock until it is true; signals may end it.
template <class F>
void wait_with_signals(const char* what, F wait, Storage* wanted = nullptr) {
  constexpr std::chrono::milliseconds kSlice{40};  // between two checks for signals (Ctrl-C)
  check_not_abandoned();
  StallWatch watch(what, wanted);
  AnnouncedWait announced;
  std::optional<TaskWait> of_task;  // for a wait that lasts
  bool over = false;
  for (uint64_t slices = 1;; ++slices) {
    {
      Unlocked unlocked;
      over = wait(kSlice);
    }
    raise_interruption();
    if (over) return;
    if (PyErr_CheckSignals() < 0 || !watch.check()) throw PythonError{};
    announced.begin();
    if (!wanted || !Executor::in_task() || !std::has_single_bit(slices))
      continue;  // the time of a check grows with the number of pending ops
    if (!of_task) of_task.emplace(Engine::get().task_waits, *wanted);
    must_not_wait_for_itself(*of_task);
  }
}

// The same for a wait that is not a call for values.
template <class F>
void logged_wait(const char* what, F wait, Storage* wanted = nullptr) {
  LoggedWait logged(what);
  wait_with_signals(what, wait, wanted);
}

}  // namespace forerun
