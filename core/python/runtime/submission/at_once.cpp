#include "python/runtime/submission/at_once.h"

#include <atomic>

#include "array/array.h"
#include "engine/engine.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"
#include "python/runtime/waiting/submission_gate.h"
#include "python/runtime/waiting/wait_log.h"

namespace forerun {

bool may_work_at_once() {
  return !synchronous && !capture && !SubmissionGate::is_closed(std::memory_order_relaxed) &&
         Engine::get().at_once.works();
}

const char* looked_at_once(const Array& array) {
  return guards || capture || Engine::get().trace.on() || !array.storage() ? nullptr : values_at_once(array);
}

bool may_take_at_once(const Array& made) {
  const Buffer& storage = *made.storage();
  if (storage.budget->accelerator) return false;
  return storage.memory() == 0 ||
         storage.memory() + storage.budget->occupied() <= storage.budget->hard.load(std::memory_order_relaxed);
}

Array made_at_once(const Layout& dense, int device) {
  Array made = Array::make(dense, budget_of(device));
  if (!may_take_at_once(made) || !made.storage()->take()) return {};
  made.storage()->materialized = true;
  return made;
}

}  // namespace forerun
