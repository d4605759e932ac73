#include "bind/blocking.h"

#include "bind/glue.h"
#include "bind/site.h"

namespace forerun {

constinit thread_local uint8_t guards = 0;

namespace {

PyObject* refuse = nullptr;  // called as refuse(call, site) where a guard objects; guarded by the interpreter lock

struct Place {
  const char* call;
  uint32_t site;
};

// The package's function that the program has called, or the array's method; or else `what`.
Place here(const char* what) {
  const char* called = nullptr;
  uint32_t site = current_site(&called);
  return {called ? called : Call::name() ? Call::name() : what, site};
}

void object(Place place) {
  if (!refuse) return;
  uint8_t before = std::exchange(guards, 0);  // what it does may wait
  Site s = site(place.site);
  PyObject* done = s.line ? PyObject_CallFunction(refuse, "s(si)", place.call, s.file.c_str(), s.line) : PyObject_CallFunction(refuse, "sO", place.call, Py_None);
  guards = before;
  if (!done) throw PythonError{};
  Py_DECREF(done);
}

int set_guard(int mode) { return std::exchange(guards, static_cast<uint8_t>(mode)); }

}  // namespace

Wait::Wait(const char* what) : what_(what) {
  if (outermost_) return;
  if (guards & kGuardWaits) [[unlikely]] object(what_ ? Place{what_, current_site()} : here("wait"));
  outermost_ = this;
  if (Engine::get().trace.on()) started_ = Trace::now();
}

Wait::~Wait() {
  if (outermost_ != this) return;
  outermost_ = nullptr;
  Engine& engine = Engine::get();
  if (!started_ || !engine.trace.on()) return;
  uint64_t ended = Trace::now();
  Place place = what_ ? Place{what_, current_site()} : here("wait");
  engine.trace.waited(place.call, place.site, seq_, engine.mark(), started_, ended);
}

void note_read(const char* name) {
  Place place = here(name);
  if (guards & kGuardReads) object(place);
  Engine::get().trace.read(place.call, place.site);
}

void init_blocking(nb::module_& m) {
  m.def("set_guard", set_guard, "What this thread asks before it goes on: a sum of 1, before it waits, and 2, before it reads what is there. Returns what was set.");
  m.def("set_refuse", [](nb::handle function) { Py_XSETREF(refuse, Py_NewRef(function.ptr())); }, "What a guard calls, as function(call, site); it may raise.");
}

}  // namespace forerun
