#include "python/runtime/waiting/wait_log.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "engine/engine.h"
#include "python/bindings.h"
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/errors/errors.h"

namespace forerun {

constinit thread_local uint8_t guards = 0;

namespace {

PyObject* refuse = nullptr;  // called as refuse(call, site) if a guard objects; guarded by the interpreter lock

struct CallSite {
  const char* call;
  uint32_t site;
};

// The package's function that the program has called, or the array's method; otherwise `what`.
CallSite here(const char* what) {
  const char* called = nullptr;
  uint32_t site = current_site(&called);
  return {called ? called : BlockingCall::name() ? BlockingCall::name() : what, site};
}

void object(CallSite place) {
  if (!refuse) return;
  uint8_t before = std::exchange(guards, 0);  // the function itself may wait
  Site s = site(place.site);
  PyObject* done = s.line ? PyObject_CallFunction(refuse, "s(si)", place.call, s.file.c_str(), s.line)
                          : PyObject_CallFunction(refuse, "sO", place.call, Py_None);
  guards = before;
  if (!done) throw PythonError{};
  Py_DECREF(done);
}

PyObject* log = nullptr;            // called as log(kind, number, number); guarded by the interpreter lock
std::atomic<uint32_t> reported{0};  // WorkerPool::lives() at its last report

void tell(const char* kind, int64_t a, int64_t b) {
  PyObject* done = PyObject_CallFunction(log, "sLL", kind, static_cast<long long>(a), static_cast<long long>(b));
  if (!done) return PyErr_WriteUnraisable(log);  // an error of the log has no effect
  Py_DECREF(done);
}

// A wait in Python code: a `with` block.
struct Waiting {
  const char* what;
  std::optional<LoggedWait> wait;
};

int set_guard(int mode) { return std::exchange(guards, static_cast<uint8_t>(mode)); }

}  // namespace

void log_worker_lives() {
  uint32_t lives = Engine::get().pool.lives();
  if (!log || reported.exchange(lives) == lives) return;
  auto [threads, wanted] = Engine::get().pool.threads();
  lives % 2 ? tell("started", threads, wanted) : tell("ended", 0, 0);
}

void log_wait_for_room(const char* cause) {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point next;  // guarded by the interpreter lock, as is the next
  static int64_t waits = 0;       // since the last report
  ++waits;
  if (!log || Clock::now() < next) return;
  next = Clock::now() + std::chrono::seconds(1);
  tell(cause, std::exchange(waits, 0), 0);
}

LoggedWait::LoggedWait(const char* what) : what_(what) {
  if (outermost_) return;
  if (Engine::get().pool.lives() != reported.load(std::memory_order_relaxed)) [[unlikely]]
    log_worker_lives();
  if (guards & kGuardWaits) [[unlikely]]
    object(what_ ? CallSite{what_, current_site()} : here("wait"));
  outermost_ = this;
  if (Engine::get().trace.on()) started_ = Trace::now();
}

LoggedWait::~LoggedWait() {
  if (outermost_ != this) return;
  outermost_ = nullptr;
  Engine& engine = Engine::get();
  if (!started_ || !engine.trace.on()) return;
  uint64_t ended = Trace::now();
  PyObject *type, *value, *traceback;  // the exception that ended the wait, or null
  PyErr_Fetch(&type, &value, &traceback);
  CallSite place = what_ ? CallSite{what_, current_site()} : here("wait");
  PyErr_Restore(type, value, traceback);
  engine.trace.waited(place.call, place.site, seq_, engine.ring.next(), started_, ended);
}

void note_read(const char* name) {
  CallSite place = here(name);
  if (guards & kGuardReads) object(place);
  Engine::get().trace.read(place.call, place.site);
}

void set_log(PyObject* function) { Py_XSETREF(log, Py_NewRef(function)); }

void set_refuse(PyObject* function) { Py_XSETREF(refuse, Py_NewRef(function)); }

void init_wait_log(Module& m) {
  nb::class_<Waiting>(m, "Waiting", "Inside its block, this thread counts as waiting; `what`: the cause.")
      .def(
          "__init__", [](Waiting* at, const char* what) { new (at) Waiting{intern(what), {}}; }, nb::arg("what"),
          Exclusive())
      .def(
          "__enter__", [](Waiting& w) { w.wait.emplace(w.what); }, Exclusive())
      .def("__exit__", [](Waiting& w, nb::args) { w.wait.reset(); }, Exclusive());
  m.def("set_guard", set_guard,
        "Sets the guard that this thread calls: a sum of 1, before it waits, and 2, before it reads computed values. "
        "Returns the former one.");
  m.def("tell", log_worker_lives, "Reports to it now.");
}

}  // namespace forerun
