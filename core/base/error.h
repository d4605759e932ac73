// Errors as the engine carries them: raised at issue as C++ exceptions, or kept in a Failure that poisons arrays.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace forerun {

// Which Python exception an error becomes.
enum class ErrorKind {
  value,
  type,
  index,
  memory,
  not_implemented,
  runtime,
  overflow,
  zero_division,
  rank_failed,
  python
};

// Thrown at issue, in the caller's thread, where python/ turns it into the Python exception of its kind; or by an op
// that runs, which fails with it.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, std::shared_ptr<void> exception = nullptr)
      : std::runtime_error(message), kind(kind), exception(std::move(exception)) {}
  const ErrorKind kind;
  const std::shared_ptr<void> exception;  // as in Failure
};

// The error of an operation that ran after its submission. Immutable but for `seen`; shared by all arrays that it
// poisons.
struct Failure {
  ErrorKind kind = ErrorKind::runtime;
  std::string message;           // without the site
  uint32_t site = 0;             // where the op was issued (python/ keeps the table of sites),
  uint64_t number = 0;           // number of the op; for one that ran at once, without a number, that of the next op,
  uint64_t before = UINT64_MAX;  // and its place among the ops that ran at once before that one
  std::shared_ptr<void> exception;        // the original Python exception and its traceback, or null; owned by python/
  mutable std::atomic<bool> seen{false};  // it was raised: it need not be reported at exit
  // The number of failures that the engine does not keep and that have not been raised, if this is one of them. Set
  // before any thread can see the failure.
  mutable std::shared_ptr<std::atomic<uint64_t>> unkept;

  bool earlier(const Failure& other) const {
    return number != other.number ? number < other.number : before < other.before;
  }
  void see() const {
    if (!seen.exchange(true) && unkept) unkept->fetch_sub(1);
  }
};

using FailurePtr = std::shared_ptr<const Failure>;

// Calls `f`, an optional step. Returns whether there was memory for it.
template <class F>
bool if_memory_allows(F f) {
  try {
    f();
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace forerun
