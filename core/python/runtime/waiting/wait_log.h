// Calls that wait, or return values: the call, its line, and the duration; and whether this thread may make them (a
// guard).
#pragma once
#include <Python.h>

#include <cstdint>

#include "engine/engine.h"

namespace forerun {

// While it lives: the array's method in which this thread is. Of nested calls the outermost counts.
class BlockingCall {
 public:
  explicit BlockingCall(const char* name) : before_(name_) {
    if (!before_) name_ = name;
  }
  BlockingCall(const BlockingCall&) = delete;
  ~BlockingCall() { name_ = before_; }
  static const char* name() { return name_; }

 private:
  static constinit inline thread_local const char* name_ = nullptr;
  const char* const before_;
};

// A wait of this thread, with the interpreter lock; a nested one is a part of the outer one. Throws PythonError before
// it begins if a guard refuses it. `what`: the cause, if it is not a call that reads values; null: it is such a call.
class LoggedWait {
 public:
  explicit LoggedWait(const char* what = nullptr);
  LoggedWait(const LoggedWait&) = delete;
  ~LoggedWait();
  // Sets the number of the op that it waits for.
  void on(uint64_t seq) { outermost_->seq_ = seq; }

 private:
  const char* what_;
  uint64_t started_ = 0, seq_ = 0;  // ticks; 0: it is not recorded
  static constinit inline thread_local LoggedWait* outermost_ = nullptr;
};

// Report to the log (forerun/_runtime/logging.py), with the interpreter lock: workers that have started or ended since
// the last report; and back-pressure, once a second.
void log_worker_lives();
void log_wait_for_room(const char* cause);

// Sets the function for reports of workers and of back-pressure, log(kind, number, number), and that of a guard,
// refuse(call, site), which may raise.
void set_log(PyObject* function);
void set_refuse(PyObject* function);

// A call found computed values: a recording counts it, and a guard may refuse it.
constexpr uint8_t kGuardWaits = 1, kGuardReads = 2;
extern constinit thread_local uint8_t guards;  // of this thread: a sum
void note_read(const char* name);
inline void found_there(const char* name) {
  if (guards || Engine::get().trace.on()) [[unlikely]]
    note_read(name);
}

}  // namespace forerun
