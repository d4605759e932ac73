// Reports the operation for which a wait waits, when nothing has ended for a while.
#pragma once
#include <Python.h>

#include <cstdint>

#include "engine/engine.h"

namespace forerun {

// One wait of a thread. `wanted`: the storage whose writes are waited for; null: all operations.
class StallWatch {
 public:
  StallWatch(const char* what, Storage* wanted) : what_(what), wanted_(wanted) {}
  // Called repeatedly, with the interpreter lock, while the wait lasts. False: an exception is set.
  bool check();

 private:
  const char* what_;
  Storage* wanted_;
  uint64_t ended_ = UINT64_MAX;  // ended ops, when their number last grew,
  std::chrono::steady_clock::time_point since_;
};

// `report(what, number of the op that is waited for or 0, seconds)` is called
void set_hang_reporter(PyObject* report);
// after so many seconds without an end, and again after each such interval. 0: never.
void set_hang_report(double seconds);

}  // namespace forerun
