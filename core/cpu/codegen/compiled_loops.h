// Loops that are compiled while the program runs, by their descriptions. The compiler is another's (the front end's):
// it takes one description after the other, and answers with a function.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "cpu/loops/loop.h"

namespace forerun {

// A loop that there may be. Any thread.
class CompiledLoop {
 public:
  explicit CompiledLoop(std::string description) : description(std::move(description)) {}
  // Null: not yet, or never.
  RowsFunction function() const { return function_.load(std::memory_order_acquire); }
  // The compiler has answered.
  bool settled() const { return settled_.load(std::memory_order_acquire); }

  const std::string description;

 private:
  friend class CompiledLoops;
  std::atomic<RowsFunction> function_{nullptr};
  std::atomic<bool> settled_{false}, requested_{false};
  std::atomic<int64_t> computed_{0};  // elements, by steps of which this loop would do the work
};

// Any thread.
class CompiledLoops {
 public:
  // Functions stay for as long as the process lives, since pending ops may call them: there are so many at most.
  static constexpr size_t kMost = 1000;

  static CompiledLoops& get();

  // `wake` is called when there is something to compile, perhaps with locks of its caller's: it must not wait.
  void set_compiler(std::function<void()> wake);
  // There is no compiler any more; what is compiled stays. Takes no lock: the child of a fork may not.
  void close() { open_.store(false); }
  bool open() const { return open_.load(std::memory_order_relaxed); }

  std::shared_ptr<CompiledLoop> find(const std::string& description);
  // Steps of which a loop would do the work have computed so many elements more. When they are enough, the compiler
  // is asked, once.
  void computed(const std::shared_ptr<CompiledLoop>& loop, int64_t elements);

  // For the compiler: the next loop, if there is one, and the answer; null: it cannot be compiled.
  std::shared_ptr<CompiledLoop> next();
  void answer(CompiledLoop& loop, RowsFunction function);
  bool waiting() const;  // there is a next one

  // How many elements are enough: as many as can be computed while a loop is compiled, about.
  void set_compile_from(int64_t elements) { compile_from_.store(elements); }
  uint64_t compiled() const { return compiled_.load(std::memory_order_relaxed); }

 private:
  static constexpr int64_t kCompileFrom = int64_t{1} << 26;
  static constexpr size_t kMostKnown = 4 * kMost;  // descriptions

  void request(const std::shared_ptr<CompiledLoop>& loop);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<CompiledLoop>> loops_;  // guarded by mutex_
  std::deque<std::shared_ptr<CompiledLoop>> waiting_;                     // guarded by mutex_
  std::function<void()> wake_;                                            // guarded by mutex_
  size_t requested_ = 0;                                                  // guarded by mutex_
  std::atomic<uint64_t> compiled_{0};
  std::atomic<int64_t> compile_from_{kCompileFrom};
  std::atomic<bool> open_{false};
};

}  // namespace forerun
