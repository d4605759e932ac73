#include "python/runtime/waiting/submission_gate.h"

#include <chrono>
#include <string>
#include <thread>

#include "base/error.h"
#include "python/runtime/errors/task_state.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/waiting/wait_loop.h"

namespace forerun {

namespace {

const char* abandoned = nullptr;  // the reason why no thread will do the pending work; null: it will be done

}  // namespace

void check_not_abandoned() {
  if (abandoned)
    throw Error(ErrorKind::runtime,
                std::string("engine: pending work must be waited for in the process that issued it, got ") + abandoned);
}

void abandon_pending_work(const char* why) {
  abandoned = why;
  SubmissionGate::close_for_good();
}

bool engine_abandoned() { return abandoned; }

void SubmissionGate::wait_open(bool always) {
  unsigned long me = PyThread_get_thread_ident();
  int left = 1000;  // milliseconds
  auto may_pass = [&] { return !owner_ || owner_ == me || in_host_task() || left <= 0; };
  check_not_abandoned();
  if (may_pass()) return;
  struct Blocked {
    Blocked() { ++blocked_submitters_; }
    ~Blocked() { --blocked_submitters_; }
  } counted;
  while (!may_pass())  // other threads may have been faster
    logged_wait("at rest", [&](std::chrono::milliseconds slice) {
      for (auto i = slice.count(); i > 0 && !may_pass(); --i, left -= !always)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return may_pass();
    });
}

// A thread that closes the gate repeatedly lets those pass that have waited meanwhile.
void SubmissionGate::release_submitters() {
  Unlocked unlocked;
  for (int i = 0; i < 5 && blocked_submitters_ > 0 && !owner_; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool SubmissionGate::close() {
  if (blocked_submitters_ > 0 && !owner_) release_submitters();
  wait_open(true);
  unsigned long me = PyThread_get_thread_ident();
  return owner_.exchange(me) == me;
}

void SubmissionGate::open() {
  if (owner_ != kForGood) owner_ = 0;
}

}  // namespace forerun
