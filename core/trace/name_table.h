// The names whose text a recording already contains, so that each is written once.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace/recording_memory.h"

namespace forerun {

// Names live as long as the process: their addresses are their numbers.
class NameTable {
 public:
  // Whether the recording has the name. Any thread, without a lock.
  bool has(const char* name) { return place(name).load(std::memory_order_relaxed) == name; }

  // With the lock of the trace.
  void clear() {
    for (auto& name : names_) name = nullptr;
  }
  void write(const char* name, RecordingMemory& memory) {
    std::atomic<const char*>& at = place(name);
    if (at.load(std::memory_order_relaxed)) return;
    memory.write_text('n', reinterpret_cast<uintptr_t>(name), name);
    at.store(name, std::memory_order_relaxed);
  }

 private:
  // The place of a name: its own, a free one, or that of another name if no place is free.
  std::atomic<const char*>& place(const char* name) {
    size_t i = reinterpret_cast<uintptr_t>(name) / 8 % kNames;
    for (int tries = 0; tries < 16; ++tries, i = (i + 1) % kNames) {
      const char* other = names_[i].load(std::memory_order_relaxed);
      if (!other || other == name) break;
    }
    return names_[i];
  }

  static constexpr size_t kNames = 1 << 12;
  std::atomic<const char*> names_[kNames]{};
};

}  // namespace forerun
