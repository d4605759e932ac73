#include "python/runtime/deferred_release.h"

#include <Python.h>

#include <atomic>

namespace forerun {

namespace {

std::atomic<Later*> given_up_things{nullptr};

int end_pending(void*) {
  end_given_up();
  return 0;
}

}  // namespace

void end_given_up() {
  for (Later* what = given_up_things.exchange(nullptr); what;) {
    Later* next = what->next;
    what->end(what);
    what = next;
  }
}

void later(Later* what) {
  what->next = given_up_things.load();
  while (!given_up_things.compare_exchange_weak(what->next, what)) {
  }
  if (!what->next && Py_IsInitialized()) Py_AddPendingCall(end_pending, nullptr);
}

}  // namespace forerun
