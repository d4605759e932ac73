#include "python/runtime/interpreter/deferred_release.h"

#include <Python.h>

#include <atomic>

namespace forerun {

namespace {

std::atomic<DeferredRelease*> pending_releases{nullptr};

int end_pending(void*) {
  run_deferred_releases();
  return 0;
}

}  // namespace

void run_deferred_releases() {
  for (DeferredRelease* what = pending_releases.exchange(nullptr); what;) {
    DeferredRelease* next = what->next;
    what->end(what);
    what = next;
  }
}

void release_under_gil_later(DeferredRelease* what) {
  what->next = pending_releases.load();
  while (!pending_releases.compare_exchange_weak(what->next, what)) {
  }
  if (!what->next && Py_IsInitialized()) Py_AddPendingCall(end_pending, nullptr);
}

}  // namespace forerun
