// Recordings of the engine's work, for Python.
#include <cstdint>
#include <string>

#include "engine/engine.h"
#include "python/bindings.h"
#include "python/runtime/call_sites/call_site.h"

namespace forerun {

namespace {

int trace_start(nb::handle path) {
  const char* file = path.is_none() ? nullptr : nb::cast<const char*>(path);
  int error = Engine::get().introspection.record_into(file);
  if (!error) say_sites();
  return error;
}

nb::bytes trace_so_far() {
  std::string all = Engine::get().trace.so_far(Engine::get().ring.next());
  return nb::bytes(all.data(), all.size());
}

nb::bytes trace_stop() {
  std::string all = Engine::get().introspection.take_record();
  return nb::bytes(all.data(), all.size());
}

}  // namespace

void init_profiler(Module& m) {
  m.def("trace_start", trace_start, nb::arg("path") = nb::none(),
        "Begins to record, into a file if there is one; returns 0 or an errno.");
  m.def("trace_say",
        [](const char* kind, uint64_t number, const char* text) { Engine::get().trace.say(*kind, number, text); });
  m.def(
      "set_trace_apart", [](uint64_t ticks) { return Engine::get().trace.set_apart(ticks); },
      "For tests: see Trace::apart. Returns the former setting.");
  m.def("trace_so_far", trace_so_far, "The recording until now.");
  m.def("trace_stop", trace_stop,
        "Ends the recording and returns it (core/trace/record.h). Empty: nothing was being recorded.");
}

}  // namespace forerun
