// Release of objects that needs the interpreter lock, for threads that must not wait for that lock.
#pragma once

namespace forerun {

// Owned by its creator until release_under_gil_later() is called.
struct DeferredRelease {
  void (*end)(DeferredRelease*) =
      nullptr;  // called once, with the interpreter lock and without locks of the engine; deletes its argument
  DeferredRelease* next = nullptr;  // in the list of objects to be released
  explicit DeferredRelease(void (*end)(DeferredRelease*)) : end(end) {}
};

// Releases the object soon, in a thread that has the interpreter lock. Any thread, also under the engine's lock; never
// waits. Once the interpreter has ended, the object is never released.
void release_under_gil_later(DeferredRelease* what);
// Releases all objects in the list. With the interpreter lock, and without locks of the engine.
void run_deferred_releases();

}  // namespace forerun
