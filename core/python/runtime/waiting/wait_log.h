// Calls that wait, or hand out values: which one, in which line, for how long; and whether this thread may (a guard).
#pragma once
#include <Python.h>

#include <cstdint>

#include "engine/engine.h"

namespace forerun {

// While it lives: the method of an array that this thread is in. Of several within one another the outermost counts.
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

// A wait of this thread, with the interpreter lock; one within another is a part of that. Throws PythonError before it
// begins if a guard refuses it. `what`: why, if it is not a call that asks for values; null: it is one.
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

// Set the function for reports of workers and of back-pressure, log(kind, number, number), and that of a guard,
// refuse(call, site), which may raise.
void set_log(PyObject* function);
void set_refuse(PyObject* function);

// A call found what it asked for: a recording counts it, and a guard may refuse it.
constexpr uint8_t kGuardWaits = 1, kGuardReads = 2;
extern constinit thread_local uint8_t guards;  // of this thread: a sum
void note_read(const char* name);
inline void found_there(const char* name) {
  if (guards || Engine::get().trace.on()) [[unlikely]]
    note_read(name);
}

}  // namespace forerun
