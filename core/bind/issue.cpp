// Issuing and waiting with the interpreter lock held, and failures as Python exceptions.
#include "bind/array.h"
#include "bind/program.h"
#include "bind/site.h"

namespace forerun {

bool synchronous = false;

namespace {

constexpr std::chrono::milliseconds kSlice{40};  // between two looks for signals (Ctrl-C)

// Repeats `wait(slice)` without the interpreter lock until it is true; signals may end it.
template <class Wait>
void wait_with_signals(const char* what, Wait wait) {
  Trace& trace = Engine::get().trace;
  double started = trace.on() ? Trace::now() : 0;
  for (bool done = false; !done;) {
    PyThreadState* state = PyEval_SaveThread();
    done = wait(kSlice);
    PyEval_RestoreThread(state);
    if (!done && PyErr_CheckSignals() < 0) throw PythonError{};
  }
  if (trace.on() && started) {
    Event event;
    event.kind = Event::Kind::wait;
    event.name = what;
    event.site = current_site();
    event.thread = Trace::thread_number();
    event.issued = event.started = started;
    event.ended = Trace::now();
    trace.add(std::move(event));
  }
}

PyObject* python_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::value: return PyExc_ValueError;
    case ErrorKind::type: return PyExc_TypeError;
    case ErrorKind::index: return PyExc_IndexError;
    case ErrorKind::memory: return PyExc_MemoryError;
    case ErrorKind::not_implemented: return PyExc_NotImplementedError;
    case ErrorKind::overflow: return PyExc_OverflowError;
    case ErrorKind::zero_division: return PyExc_ZeroDivisionError;
    default: return PyExc_RuntimeError;
  }
}

}  // namespace

Budget* budget_of(int device) { return Engine::get().device(device).budget.get(); }

void issue(Op* op, int device, Queue::Kind kind) {
  Engine& engine = Engine::get();
  if (device >= engine.devices()) {  // it was there when the array was made
    engine.discard(op);
    throw Error(ErrorKind::value, "device: must be one of the " + std::to_string(engine.devices()) + " in use, got cpu(" + std::to_string(device) +
                                      "); copy the array to another one");
  }
  Device& d = engine.device(device);
  op->queue = (kind == Queue::Kind::compute ? d.compute : kind == Queue::Kind::copy ? d.copy : d.io).get();
  op->budget = d.budget.get();
  op->site = current_site();
  if (engine.must_wait()) {
    try {
      wait_with_signals("window full", [&](auto slice) { return engine.make_room(slice); });
    } catch (...) {
      engine.discard(op);
      throw;
    }
  }
  if (capture) capture->add(*op);
  if (!synchronous) {
    if (engine.issue(op) % Engine::kKeepUp == 0) engine.keep_up();
    return;
  }
  std::vector<Storage*> outputs;
  for (int i = 0; i < op->n_access; ++i)
    if (op->access(i).mode != Mode::read) outputs.push_back(op->access(i).storage), outputs.back()->retain();
  uint64_t seq = engine.issue(op);
  FailurePtr failure;
  auto end = [&](bool look) {
    for (Storage* s : outputs) {
      if (look && !failure) failure = s->failure;
      s->release();
    }
  };
  try {
    // Only for this op: a host task that issues is itself an op that has not ended, and so are those of other threads.
    for (Storage* s : outputs) wait_with_signals("synchronous", [&](auto slice) { return s->settled() || engine.wait(*s, slice); });
    if (outputs.empty()) wait_with_signals("synchronous", [&](auto slice) { return engine.wait_mark(seq + 1, slice); });
  } catch (...) {
    end(false);  // it may still run
    throw;
  }
  end(true);
  if (failure) {
    set_python_error(*failure);
    throw PythonError{};
  }
}

void check_failure(const Array& array) {
  if (FailurePtr failure = array.storage()->failure) {
    set_python_error(*failure);
    throw PythonError{};
  }
}

void wait_for(const Array& array) {
  must_not_look("look at an array");
  Storage& storage = *array.storage();
  if (!storage.settled() && !Engine::get().trace.on()) Engine::get().settle_small(storage);
  while (!storage.settled()) wait_with_signals("wait", [&](auto slice) { return Engine::get().wait(storage, slice); });
  check_failure(array);
}

void wait_mark(uint64_t mark) {
  wait_with_signals("waitall", [&](auto slice) { return Engine::get().wait_mark(mark, slice); });
}

void wait_all() {
  must_not_look("wait");
  wait_mark(Engine::get().mark());
  if (FailurePtr failure = Engine::get().take_unseen_failure()) {
    set_python_error(*failure);
    throw PythonError{};
  }
}

void set_python_error(const Error& error) { PyErr_SetString(python_type(error.kind), error.what()); }

void set_python_error(const Failure& failure) {
  failure.seen.store(true);
  if (failure.exception) {
    auto* pair = static_cast<PyObject*>(failure.exception.get());
    PyObject *exception = PyTuple_GET_ITEM(pair, 0), *trace = PyTuple_GET_ITEM(pair, 1);
    PyException_SetTraceback(exception, trace);  // as it was: each read starts anew
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
    return;
  }
  Site where = site(failure.site);
  PyObject* exception = PyObject_CallFunction(python_type(failure.kind), "s", failure.message.c_str());
  if (!exception) return;
  if (where.line) {
    std::string note = "issued at " + where.file + ":" + std::to_string(where.line);
    Py_XDECREF(PyObject_CallMethod(exception, "add_note", "s", note.c_str()));
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
  Py_DECREF(exception);
}

}  // namespace forerun
