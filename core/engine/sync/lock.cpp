#include "engine/sync/lock.h"

#include "base/simd/cycles.h"

namespace forerun {

namespace {
constexpr int kTries = 100;  // tries before a thread sleeps
}

Lock EngineMutex::lock() {
  for (int i = 0; i < kTries; ++i) {
    Lock held(mutex_, std::try_to_lock);
    if (held) return held;
    pause();
  }
  return Lock(mutex_);
}

}  // namespace forerun
