// Loops that are compiled while the program runs, by their descriptions. The compiler is another's (the front end's):
// it takes one description after the other, and answers with a function.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "cpu/kernels/loop.h"

namespace forerun {

// Any thread.
class CompiledLoops {
 public:
  // Functions stay for as long as the process lives, since pending ops may call them: there are so many at most.
  static constexpr size_t kMost = 1000;

  static CompiledLoops& get();

  // `wake` is called when there is something to compile, perhaps with locks of its caller's: it must not wait.
  void set_compiler(std::function<void()> wake);
  // There is no compiler, or not any more; what is compiled stays.
  void close();
  bool open() const { return open_.load(std::memory_order_relaxed); }

  // None: it has not been answered. Null: it cannot be compiled.
  std::optional<LoopFunction> find(const std::string& description) const;
  // Asks the compiler, unless it has been asked.
  void request(const std::string& description);
  // For the compiler: the next description, if there is one, and its answer; null: it cannot be compiled.
  std::optional<std::string> next();
  bool waiting() const;  // there is one
  void answer(const std::string& description, LoopFunction function);

  // How many descriptions have been answered.
  uint64_t settled() const { return settled_.load(std::memory_order_acquire); }
  // How many elements steps must have computed until a loop that does their work is asked for: as long as compiling it
  // takes, about.
  int64_t worth() const { return worth_.load(std::memory_order_relaxed); }
  void set_worth(int64_t elements) { worth_.store(elements); }
  struct Stats {
    uint64_t compiled, refused;
  };
  Stats stats() const;

 private:
  static constexpr int64_t kWorth = int64_t{1} << 24;

  mutable std::mutex mutex_;
  // Guarded by mutex_. Of each description that was asked for: the answer.
  std::unordered_map<std::string, std::optional<LoopFunction>> loops_;
  std::deque<std::string> waiting_;  // guarded by mutex_
  std::function<void()> wake_;       // guarded by mutex_
  uint64_t refused_ = 0;             // guarded by mutex_
  std::atomic<uint64_t> settled_{0};
  std::atomic<int64_t> worth_{kWorth};
  std::atomic<bool> open_{false};
};

}  // namespace forerun
