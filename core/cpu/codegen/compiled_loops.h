// Loops that are compiled while the program runs, by their descriptions. The compiler belongs to another part (the
// front end): it takes one description after the other, and returns a function.
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

// A loop that may be compiled. Any thread.
class CompiledLoop {
 public:
  explicit CompiledLoop(std::string description) : description(std::move(description)) {}
  // Null: not compiled yet, or never.
  RowsFunction function() const { return function_.load(std::memory_order_acquire); }
  // Whether the compiler has answered.
  bool settled() const { return settled_.load(std::memory_order_acquire); }

  const std::string description;

 private:
  friend class CompiledLoops;
  std::atomic<RowsFunction> function_{nullptr};
  std::atomic<bool> settled_{false}, requested_{false};
  std::atomic<int64_t> computed_{0};  // elements computed by steps that this loop would replace
};

// Any thread.
class CompiledLoops {
 public:
  // Functions are kept for as long as the process lives, since pending ops may call them: this limits their number.
  static constexpr size_t kMost = 1000;

  static CompiledLoops& get();

  // `wake` is called when there is a loop to compile, perhaps with locks of its caller's: it must not wait.
  void set_compiler(std::function<void()> wake);
  // The compiler has ended; compiled loops are kept. Takes no lock: the child of a fork may not.
  void close() { open_.store(false); }
  bool open() const { return open_.load(std::memory_order_relaxed); }

  std::shared_ptr<CompiledLoop> find(const std::string& description);
  // Steps that a loop would replace have computed so many more elements. When they are enough, the compiler is asked,
  // once.
  void computed(const std::shared_ptr<CompiledLoop>& loop, int64_t elements);

  // For the compiler: the next loop, or null, and the answer; null: the loop cannot be compiled.
  std::shared_ptr<CompiledLoop> next();
  void answer(CompiledLoop& loop, RowsFunction function);
  bool waiting() const;  // whether there is a next one

  // Sets how many elements are enough: about as many as can be computed while a loop is compiled.
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
