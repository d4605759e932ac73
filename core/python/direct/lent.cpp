#include "python/direct/lent.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "array/array.h"
#include "engine/engine.h"
#include "python/direct/creation/creation_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/numpy_memory.h"
#include "python/object/create.h"
#include "python/object/node.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/wait.h"
#include "python/runtime/waiting/submission_gate.h"
#include "python/runtime/waiting/wait_log.h"

namespace forerun {

namespace {

constexpr std::chrono::microseconds kLongest{20'000};  // of a wait for an operand, which looks for no signals
constexpr int64_t kCopied = 8000;                      // bytes that are copied in a microsecond

// Whether an operation may be issued and waited for within this call, and nothing keeps it for later.
bool may_wait_here() {
  return !recording && !capture && !guards && !Executor::in_task() &&
         !SubmissionGate::is_closed(std::memory_order_relaxed) &&
         !Engine::get().scheduler.gate_closed(std::memory_order_relaxed);
}

}  // namespace

nb::object lent_by(PyObject* numpy) {
  if (!may_wait_here()) return {};
  Array lent = lent_by_numpy(numpy, here());
  return lent.storage() ? nb::steal(wrap(std::move(lent))) : nb::object();
}

bool computed_soon(PyObject* operand, PyObject* lent) {
  const std::chrono::microseconds copy{as_array(lent)->array.layout.nbytes() / kCopied};
  return ends_within(as_array(operand)->array, std::min(copy, kLongest));
}

PyObject* when_ended(PyObject* result) {
  nb::object owned = nb::steal(result);
  if (result) wait_for_end(as_array(result)->array);
  return owned.release().ptr();
}

}  // namespace forerun
