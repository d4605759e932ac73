// Release of objects that needs the interpreter lock, from threads that must not wait for that lock.
#pragma once

namespace forerun {

// Owned by its creator until release_under_gil_later() is called.
struct DeferredRelease {
  void (*end)(DeferredRelease*) =
      nullptr;  // called once, with the interpreter lock and none of the engine's; deletes what it gets
  DeferredRelease* next = nullptr;  // among those to be released
  explicit DeferredRelease(void (*end)(DeferredRelease*)) : end(end) {}
};

// Ends it soon, in a thread that has the interpreter lock. Any thread, also under the engine's lock; never waits. When
// there is no interpreter any more, it never ends.
void release_under_gil_later(DeferredRelease* what);
// Releases all objects that wait for it. With the interpreter lock, and none of the engine's.
void run_deferred_releases();

}  // namespace forerun
