// Support for asyncio: queues that an event loop polls, and watches on arrays. See src/forerun/_runtime/asyncio.py.
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "array/array.h"
#include "engine/engine.h"
#include "engine/sync/completion.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"
#include "python/runtime/wait.h"
#include "python/runtime/waiting/left_queued.h"
#include "python/runtime/waiting/submission_gate.h"
#include "python/runtime/waiting/wait_loop.h"

namespace forerun {

namespace {

// A completion that keeps the watched array alive. Python owns it; once it is deleted it no longer reports. Before it
// waits, it spends a fraction of a millisecond on small ops that may compute the values: a worker would take longer to
// start.
struct Watch : Completion {
  Watch(nb::handle queue, const Array& array) : array(array), owner(nb::borrow(queue)) {
    refuse_in_capture("reading the value of an array");
    Engine& engine = Engine::get();
    // Pending work was abandoned, and a wait raises an error; or no worker could be started, and only waits run
    // operations.
    if (engine_abandoned() || (!synchronous && engine.devices[device_of(array)].compute->workers == 0)) wait_for(array);
    if (engine.waiter.little_fresh()) engine.waiter.settle_small(*array.storage(), Dispatcher::Then::go_on);
    if (Executor::in_task() && !array.storage()->settled()) must_not_wait_for_itself(*array.storage());
    region = array.layout.region();
    waits = engine.watch(*this, *array.storage(), nb::cast<CompletionQueue&>(queue));
    if (waits) announced.begin();
  }
  ~Watch() { Engine::get().notifier.unwatch(*this); }

  Array array;
  nb::object owner;  // of the queue
  bool waits;
  AnnouncedWait announced;
};

// Completed watches, at most `most`, in the order in which their arrays were computed.
nb::list take(CompletionQueue& queue, size_t most) {
  nb::list all;
  std::vector<Completion*> completed(most);
  completed.resize(
      Engine::get().notifier.pop_completed(queue, completed.data(),
                                           most));  // from here on no object is created that could trigger a collection
  for (Completion* w : completed) all.append(nb::find(static_cast<Watch*>(w)));
  return all;
}

void raise(const Watch& watch) {
  if (!watch.failure) return;
  set_python_error(*watch.failure);
  throw PythonError{};
}

// Whether the values are computed; if so, raises the error of their computation.
bool arrived(nb::handle o) {
  const Array& a = arg("await", o);
  refuse_in_capture("reading the value of an array");
  if (!a.storage()->settled()) return false;
  check_failure(a);
  return true;
}

// None: no computation has failed, as far as is known now; otherwise whether the failure was raised. Does not wait.
nb::object failure_seen(nb::handle o) {
  const Array& a = arg("failure_seen", o);
  FailurePtr failure = a.storage()->settled() ? a.failure() : nullptr;
  if (!failure) return nb::none();
  return nb::bool_(failure->seen.load());
}

}  // namespace

void init_asyncio_events(Module& m) {
  m.def("arrived", arrived, nb::arg("a"),
        "Whether the values are computed; raises the error of their computation. Does not wait.");
  m.def("failure_seen", failure_seen, nb::arg("a"),
        "Whether the failure of a computed array was raised; None: it has not failed.");
  nb::class_<CompletionQueue>(m, "CompletionQueue",
                              "A file descriptor that is readable while completed watches are queued.")
      .def(
          "__init__", [](CompletionQueue* at) { new (at) CompletionQueue(Engine::get().notifier); }, Exclusive())
      .def("fileno", &CompletionQueue::descriptor, Exclusive())
      .def("take", take, nb::arg("most"), Exclusive(),
           "Completed watches, in the order in which their arrays were computed.");
  nb::class_<Watch>(m, "Watch", "Completes when the writes of an array that have been issued before have ended.")
      .def(
          "__init__", [](Watch* at, nb::handle queue, nb::handle a) { new (at) Watch(queue, arg("await", a)); },
          nb::arg("queue"), nb::arg("a"), Exclusive())
      .def_prop_ro(
          "waits", [](const Watch& w) { return w.waits; }, Exclusive(),
          "False: all writes had ended, so it will not be queued.")
      .def_prop_ro(
          "failure", [](const Watch& w) { return reinterpret_cast<uintptr_t>(w.failure.get()); }, Exclusive(),
          "The same for arrays that one failure has poisoned; 0: no failure.")
      .def("check", raise, Exclusive(), "Once completed: raises the error of the computation.");
}

}  // namespace forerun
