// What ends with the interpreter lock held, given up by threads that must not wait for that lock.
#pragma once

namespace forerun {

// Owned by who made it until later() is called.
struct Later {
  void (*end)(Later*) =
      nullptr;            // called once, with the interpreter lock and none of the engine's; deletes what it gets
  Later* next = nullptr;  // among those given up
  explicit Later(void (*end)(Later*)) : end(end) {}
};

// Ends it soon, in a thread that has the interpreter lock. Any thread, also under the engine's lock; never waits. When
// there is no interpreter any more, it never ends.
void later(Later* what);
// Ends now what was given up. With the interpreter lock, and none of the engine's.
void end_given_up();

}  // namespace forerun
