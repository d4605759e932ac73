#include "python/runtime/waiting/wait_loop.h"

#include <cstdint>
#include <string>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/execution/task_wait.h"
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/errors/task_state.h"

namespace forerun {

namespace {

std::string place(uint32_t where) {
  Site s = site(where);
  return s.line ? s.file + ":" + std::to_string(s.line) : "a line that is not known";
}

}  // namespace

void must_not_wait_for_itself(TaskWait& wait) {
  SelfWait self = Engine::get().task_waits.waits_for_itself(wait);
  if (!self.found) return;
  note_self_wait();
  throw Error(ErrorKind::runtime, std::string(self.name) +
                                      ": a host task must not wait for operations after its own end, got a wait at " +
                                      place(current_site()) + " in the task issued at " + place(self.site));
}

void must_not_wait_for_itself(Storage& storage) {
  TaskWait wait(Engine::get().task_waits, storage);
  must_not_wait_for_itself(wait);
}

}  // namespace forerun
