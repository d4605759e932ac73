// Says what a wait waits for, when nothing has ended for a while.
#pragma once
#include <Python.h>

#include <cstdint>

#include "engine/engine.h"

namespace forerun {

// One wait of a thread. `wanted`: the storage whose writes are waited for; null: everything.
class StallWatch {
 public:
  StallWatch(const char* what, Storage* wanted) : what_(what), wanted_(wanted) {}
  // Now and then, with the interpreter lock, while the wait is not over. False: an exception is set.
  bool check();

 private:
  const char* what_;
  Storage* wanted_;
  uint64_t ended_ = UINT64_MAX;  // ops, when it was seen last that there were more than before,
  std::chrono::steady_clock::time_point since_;
};

// `report(what, number of the op that is waited for or 0, seconds)` is called
void set_hang_reporter(PyObject* report);
// after so many seconds without an end, and each time they have passed again. 0: never.
void set_hang_report(double seconds);

}  // namespace forerun
