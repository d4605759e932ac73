#include "engine/sync/lock.h"

#include "base/simd/cycles.h"

namespace forerun {

namespace {
constexpr int kTries = 100;  // tries before a thread sleeps
}

void relock(Lock& held) {
  for (int i = 0; i < kTries; ++i) {
    if (held.try_lock()) return;
    pause();
  }
  held.lock();
}

Lock EngineMutex::lock() {
  Lock held(mutex_, std::defer_lock);
  relock(held);
  return held;
}

}  // namespace forerun
