// Waits for arrays and for the engine, as functions for Python.
#include <cstdint>

#include "engine/engine.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/wait.h"

namespace forerun {

void init_wait(Module& m) {
  m.def(
      "wait", [](nb::handle arrays) { wait_for(args("wait", arrays)); },
      "Waits for several arrays; several failures are raised as a group.");
  m.def(
      "wait_until_written", [](nb::handle array) { wait_until_written(arg("wait", array)); },
      "Waits for an array whose values make no difference, also while a program is recorded.");
  m.def("waitall", [] { wait_all(Engine::get().ring.next()); });
  m.def(
      "waitall_at_end",
      [](bool raises) { (raises ? wait_all : wait_mark)(Engine::get().ring.next(), "end of the recording"); },
      nb::arg("raises") = true,
      "The same, as a part of the recording and not of the program; without `raises`, failures stay unseen.");
  m.def("mark", [] { return Engine::get().ring.next(); }, "Number of the next op.");
  m.def("wait_mark", [](uint64_t mark) { wait_mark(mark); }, "Waits for all ops issued before a mark.");
  m.def(
      "waitall_before", [](uint64_t mark) { wait_all(mark); },
      "The same, and raises failures that have not been raised.");
  m.def(
      "gate", [](bool closed) { without_lock([&] { Engine::get().gate(closed); }); },
      "Closed: nothing is planned or started.");
  m.def("quiesce", quiesce, "Waits for all work and ends the workers; they start again with the next op.");
}

}  // namespace forerun
