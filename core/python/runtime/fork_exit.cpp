// The engine's end, and its behaviour around a fork, for Python.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cpu/parent_process.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/errors/task_state.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/interpreter/loop_compiler.h"
#include "python/runtime/settings.h"
#include "python/runtime/submission/submit.h"
#include "python/runtime/wait.h"
#include "python/runtime/waiting/submission_gate.h"

namespace forerun {

namespace {

nb::list unseen_failures() {
  FailureLog::Unseen unseen = without_lock([] { return Engine::get().failures.take_unseen(); });
  nb::list all;
  for (const FailurePtr& f : unseen.failures) all.append(nb::make_tuple(f->message, site_tuple(f->site)));
  if (unseen.unkept) all.append(nb::make_tuple(nb::none(), unseen.unkept));
  return all;
}

// --- fork ------------------------------------------------------------------------------------------------------------

// A signal handler's exception that ended the wait before a fork. Python drops exceptions that are raised there: it is
// raised after the fork, when other functions that Python calls then have returned to the frame that forked.
PyObject *interrupted = nullptr, *forking_frame = nullptr;

bool within(PyObject* frame) {
  nb::object at = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  if (at.is(frame)) return false;
  while (at && !at.is(frame))
    at = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(at.ptr()))));
  return at.is_valid();
}

int raise_interrupted(void*) {
  if (!interrupted) return 0;
  if (within(forking_frame)) return Py_AddPendingCall(raise_interrupted, nullptr), 0;
  nb::object exception = nb::steal(std::exchange(interrupted, nullptr));
  Py_CLEAR(forking_frame);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  return -1;
}

// A process forks when all work is done, and without workers. In a host task, or interrupted, it forks without waiting.
void before_fork() {
  if (engine_abandoned() || in_host_task()) return;
  pause_loop_compiler();
  SubmissionGate::close();
  try {
    quiesce();
  } catch (const PythonError&) {
    PyObject *type, *trace;
    PyErr_Fetch(&type, &interrupted, &trace);
    PyErr_NormalizeException(&type, &interrupted, &trace);
    Py_XDECREF(type), Py_XDECREF(trace);
    Py_XSETREF(forking_frame, Py_XNewRef(reinterpret_cast<PyObject*>(PyEval_GetFrame())));
  }
}

void after_fork(bool child) {
  SubmissionGate::open();
  resume_loop_compiler(child);
  Engine& engine = Engine::get();
  if (child && engine.abandoned()) abandon_pending_work("a child of a process that forked before the work had ended");
  if (child) engine.failures.take_unseen();  // the parent reports them
  if (interrupted) Py_AddPendingCall(raise_interrupted, nullptr);
}

// --- exit ------------------------------------------------------------------------------------------------------------

// The exit status of the process, instead of success; and whether pending work was abandoned, which may continue to run
// and use the C++ objects.
int exit_status = 0;

void at_exit(int status, void*) {
  if (status == 0) status = exit_status;
  if (engine_abandoned() && !Engine::get().abandoned()) {
    std::fflush(nullptr);
    std::_Exit(status);
  }
  if (status && status == std::exchange(exit_status, 0)) std::exit(status);  // the remaining handlers follow
}

// Work that is issued later is done by the issuing thread.
void finish() {
  pause_loop_compiler();
  configure(std::vector<int>(static_cast<size_t>(Engine::get().devices.size()), 0), 1, Engine::get().ring.ops_ahead(),
            0);
  synchronous = true;
}

}  // namespace

void init_fork_exit(Module& m) {
#ifdef __GLIBC__
  on_exit(at_exit, nullptr);
#endif
  m.def("end_with_process", end_with_process, nb::arg("process"), nb::arg("is_parent"),
        "This process ends when that one has ended, whatever it does then. False: there is no thread to see to that.");
  m.def("before_fork", before_fork);
  m.def("after_fork", after_fork);
  m.def("finish", finish, "Waits for all work; operations issued later run in the issuing thread.");
  m.def(
      "abandon_pending_work", [] { abandon_pending_work("an interrupted wait for it at exit"); },
      "Nothing will be waited for any more.");
  m.def("engine_abandoned", engine_abandoned);
  m.def(
      "set_exit_status", [](int status) { exit_status = status; },
      "Set the exit status of the process, in place of success.");
  m.def("unseen_failures", unseen_failures,
        "Failures that have not been raised, as (message, site), at the end perhaps (None, the number of others); they "
        "count as raised then.");
}

}  // namespace forerun
