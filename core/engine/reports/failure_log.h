// Failures of ops, until they have been raised or reported.
#pragma once
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "engine/operations/op.h"
#include "engine/sync/lock.h"

namespace forerun {

class FailureLog {
 public:
  // Failures that no read has raised, in the order in which they happened; they count as seen now. If there are very
  // many, the last `unkept` are only counted.
  struct Unseen {
    std::vector<FailurePtr> failures;
    uint64_t unkept;
  };

  explicit FailureLog(EngineMutex& mutex);

  // --- Any thread ---
  Unseen take_unseen();
  // A read raises it: it need not be reported, nor be kept with all objects that its exception refers to.
  void seen(const Failure& failure);
  // A failure of an op, with the text returned by `message`; if memory is exhausted, no_memory_. before: for an op that
  // runs at once, its place among those.
  template <class F>
  FailurePtr made(ErrorKind kind, const Op& op, F message, std::shared_ptr<void> exception = nullptr,
                  uint64_t before = UINT64_MAX) const {
    try {
      auto made = std::make_shared<Failure>();
      made->kind = kind, made->site = op.site, made->number = op.seq, made->before = before, made->message = message(),
      made->exception = std::move(exception);
      return made;
    } catch (const std::bad_alloc&) {
      no_memory_->seen.store(false);
      return no_memory_;
    }
  }

  // --- With the engine's lock ---
  void fail(Op& op, FailurePtr failure);
  uint64_t count() const { return count_; }

 private:
  static constexpr size_t kMostUnseen = 1000;
  void forget_seen();

  EngineMutex& mutex_;
  const FailurePtr no_memory_;  // a failure without a line, for when memory is exhausted
  // Guarded by the engine's lock.
  uint64_t count_ = 0;
  std::vector<FailurePtr> unseen_;  // may have been seen meanwhile; has room for kMostUnseen
  std::shared_ptr<std::atomic<uint64_t>> unkept_ = std::make_shared<std::atomic<uint64_t>>(
      0);  // since unseen_ was taken: failures beyond kMostUnseen that no read has raised
};

}  // namespace forerun
