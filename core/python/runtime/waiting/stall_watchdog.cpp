#include "python/runtime/waiting/stall_watchdog.h"

#include <chrono>
#include <cstdint>

#include "engine/engine.h"

namespace forerun {

namespace {

// Guarded by the interpreter lock.
std::chrono::duration<double> patience{0};
PyObject* reporter = nullptr;

}  // namespace

void set_hang_reporter(PyObject* report) { Py_XSETREF(reporter, Py_NewRef(report)); }

void set_hang_report(double seconds) { patience = std::chrono::duration<double>(seconds); }

bool StallWatch::check() {
  if (patience.count() <= 0) return true;
  auto now = std::chrono::steady_clock::now();
  uint64_t ended = Engine::get().introspection.stats().ended;
  if (ended != ended_) {
    ended_ = ended, since_ = now;
    return true;
  }
  if (now - since_ < patience) return true;
  std::chrono::duration<double> passed = now - since_;
  since_ = now;
  uint64_t op = wanted_ ? Engine::get().introspection.writer(*wanted_) : 0;
  PyObject* result = PyObject_CallFunction(reporter, "sKd", what_, static_cast<unsigned long long>(op), passed.count());
  Py_XDECREF(result);
  return result;
}

}  // namespace forerun
