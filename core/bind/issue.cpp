// Issuing and waiting with the interpreter lock held, and failures as Python exceptions.
#include <algorithm>
#include <bit>
#include <optional>
#include <thread>

#include "bind/array.h"
#include "bind/at_once.h"
#include "bind/blocking.h"
#include "bind/gil.h"
#include "bind/hang.h"
#include "bind/host.h"
#include "bind/program.h"
#include "bind/site.h"

namespace forerun {

bool synchronous = false;
constinit thread_local bool exchanging = false;

namespace {

constexpr std::chrono::milliseconds kSlice{40};  // between two looks for signals (Ctrl-C)

// Work that nobody will do any more, because of what is said here; null: there is none.
const char* given_up = nullptr;

void must_not_be_given_up() {
  if (given_up)
    throw Error(ErrorKind::runtime,
                std::string("engine: pending work must be waited for in the process that issued it, got ") + given_up);
}

std::string place(uint32_t where) {
  Site s = site(where);
  return s.line ? s.file + ":" + std::to_string(s.line) : "a line that is not known";
}

void must_not_wait_for_itself(TaskWait& wait) {
  SelfWait self = Engine::get().task_waits.waits_for_itself(wait);
  if (!self.found) return;
  note_self_wait();
  throw Error(ErrorKind::runtime, std::string(self.name) +
                                      ": a host task must not wait for what comes after its own end, got a wait at " +
                                      place(current_site()) + " in the task issued at " + place(self.site));
}

// Repeats `wait(slice)` without the interpreter lock until it is true; signals may end it.
template <class Wait>
void wait_with_signals(const char* what, Wait wait, Storage* wanted = nullptr) {
  must_not_be_given_up();
  HangWatch watch(what, wanted);
  std::optional<TaskWait> of_task;  // of a wait that lasts
  for (uint64_t slices = 1;; ++slices) {
    {
      Unlocked unlocked;
      if (wait(kSlice)) return;
    }
    if (PyErr_CheckSignals() < 0 || !watch.look()) throw PythonError{};
    if (!wanted || !Executor::in_task() || !std::has_single_bit(slices))
      continue;  // a look takes as long as much is pending
    if (!of_task) of_task.emplace(*wanted);
    must_not_wait_for_itself(*of_task);
  }
}

// The same for a wait that no call for values makes.
template <class F>
void recorded_wait(const char* what, F wait, Storage* wanted = nullptr) {
  Wait recorded(what);
  wait_with_signals(what, wait, wanted);
}

// --- the door: while one thread brings the engine to rest, others issue nothing; modelled in tests/model/life.py
// --------------

std::atomic<unsigned long> door{0};  // the thread that has closed it; written with the interpreter lock
constexpr unsigned long kGivenUp = ~0ul;
std::atomic<int> standing{0};  // threads in front of it

// While another thread has closed it. A thread on which a task waits must come through in the end, so nobody stands
// here for ever, unless `always`.
void stand_at_door(bool always) {
  unsigned long me = PyThread_get_thread_ident();
  int left = 1000;  // milliseconds
  auto may_pass = [&] { return !door || door == me || in_host_task() || left <= 0; };
  must_not_be_given_up();
  if (may_pass()) return;
  struct Standing {
    Standing() { ++standing; }
    ~Standing() { --standing; }
  } counted;
  while (!may_pass())  // others may have been faster
    recorded_wait("at rest", [&](std::chrono::milliseconds slice) {
      for (auto i = slice.count(); i > 0 && !may_pass(); --i, left -= !always)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return may_pass();
    });
}

// Whoever closes it again and again lets those through that have stood there meanwhile.
void let_through() {
  Unlocked unlocked;
  for (int i = 0; i < 5 && standing > 0 && !door; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// A task must not wait for room: its own op may be the one that has not ended.
void find_room(Engine& engine) {
  if (!in_host_task()) {
    const char* cause = engine.introspection.held_for_memory() ? "bytes full" : "window full";
    recorded_wait(cause, [&](auto slice) { return engine.waiter.make_room(slice); });
    return tell_full(cause);
  }
  if (engine.ring.nearly_full())
    throw Error(ErrorKind::runtime, "issue: a host task must leave room for others, got more than " +
                                        std::to_string(engine.ring.ops_ahead()) + " operations issued since it began");
}

// A device that was used before the settings changed.
void use_again(Engine& engine, Op* op, int device) {
  try {
    engine.use_device(device);
  } catch (...) {
    engine.discard(op);
    throw;
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

bool may_work_at_once() {
  return !synchronous && !capture && !door.load(std::memory_order_relaxed) && Engine::get().at_once.works();
}

bool may_take_at_once(const Array& made) {
  const Buffer& storage = *made.storage();
  return storage.memory() == 0 ||
         storage.memory() + storage.budget->occupied() <= storage.budget->hard.load(std::memory_order_relaxed);
}

Array made_at_once(DType dtype, const Dims& shape, int device) {
  Array made = Array::make(dtype, shape, budget_of(device));
  if (!may_take_at_once(made) || !made.storage()->take()) return {};
  made.storage()->materialized = true;
  return made;
}

Budget* budget_of(int device) { return Engine::get().devices[device].budget.get(); }

void issue(Op* op, int device, Queue::Kind kind, bool cheap) {
  Engine& engine = Engine::get();
  Device& d = engine.devices[device];
  if (!d.used.load(std::memory_order_relaxed)) [[unlikely]]
    use_again(engine, op, device);
  op->queue = (kind == Queue::Kind::compute ? d.compute : kind == Queue::Kind::copy ? d.copy : d.io).get();
  op->budget = d.budget.get();
  const uint32_t cost = op->cost;
  if (cheap) op->cost = 0;
  if (engine.at_once.fits(*op) && !door && !capture && !synchronous) {
    // Only what may fail, or is recorded, must know its line.
    op->site = op->kernel()->droppable() && !engine.trace.on() ? 0 : current_site();
    if (engine.run_at_once(op)) return cheap ? raise_interruption() : void();
  }
  op->cost = cost;
  op->site = current_site();
  op->inner = in_host_task();
  op->urgent = exchanging;
  std::vector<std::pair<Storage*, Region>> outputs;
  if (door || engine.ring.full() || capture || synchronous) {
    try {
      if (door) stand_at_door(false);
      if (engine.ring.full()) find_room(engine);
      if (synchronous) outputs.reserve(static_cast<size_t>(op->n_access));
      if (capture) capture->add(*op);
    } catch (...) {
      engine.discard(op);
      throw;
    }
  }
  if (!synchronous) {
    if (engine.issue(op) % Waiter::kKeepUp == 0) engine.waiter.keep_up();
    return;
  }
  for (int i = 0; i < op->n_access; ++i)
    if (op->access(i).mode != Mode::read)
      outputs.emplace_back(op->access(i).storage, op->region(op->access(i))), outputs.back().first->retain();
  uint64_t seq = engine.issue(op);
  FailurePtr failure;
  auto end = [&](bool look) {
    for (auto& [s, region] : outputs) {
      if (look && !failure) failure = s->failure_in(region);
      s->release();
    }
  };
  try {
    recorded_wait(
        "synchronous",
        [&](auto slice) {
          if (outputs.empty()) return engine.waiter.wait_mark(seq + 1, slice);
          return std::all_of(outputs.begin(), outputs.end(),
                             [&](auto& output) { return engine.waiter.wait(*output.first, slice); });
        },
        outputs.empty() ? nullptr : outputs.front().first);
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

void must_not_wait_for_itself(Storage& storage) {
  TaskWait wait(storage);
  must_not_wait_for_itself(wait);
}

void check_failure(const Array& array) {
  if (FailurePtr failure = array.failure()) {
    set_python_error(*failure);
    throw PythonError{};
  }
}

namespace {

void wait_settled(const Array& array) {
  Storage& storage = *array.storage();
  if (storage.settled()) return found_there("wait");
  Wait wait;
  if (!given_up) Engine::get().waiter.settle_small(storage);
  while (!storage.settled())
    wait_with_signals("wait", [&](auto slice) { return Engine::get().waiter.wait(storage, slice); }, &storage);
  wait.on(storage.last_write);
}

nb::object exception_of(const Failure& failure) {
  Engine::get().failures.seen(failure);
  return failure.exception ? raised(failure) : raised(failure, python_type(failure.kind));
}

// The failures' exceptions, each once.
std::vector<nb::object> exceptions_of(const std::vector<FailurePtr>& failures) {
  std::vector<nb::object> found;
  std::vector<const Failure*> met;
  for (const FailurePtr& f : failures) {
    if (std::find(met.begin(), met.end(), f.get()) != met.end()) continue;
    met.push_back(f.get());
    nb::object e = exception_of(*f);
    if (std::none_of(found.begin(), found.end(), [&](auto& other) { return other.is(e); }))
      found.push_back(std::move(e));
  }
  return found;
}

// Raises what there is: one failure as itself, several as a group.
void raise(const std::vector<FailurePtr>& failures, uint64_t more = 0) {
  if (failures.empty()) return;
  if (failures.size() == 1 && !more) {
    set_python_error(*failures[0]);
    throw PythonError{};
  }
  std::vector<nb::object> found = exceptions_of(failures);
  nb::object raised = found[0];
  if (found.size() > 1 || more) {
    nb::list all;
    for (nb::object& e : found) all.append(e);
    std::string message = "operations that failed";
    if (more) message += ", and " + std::to_string(more) + " more";
    raised = checked(PyObject_CallFunction(PyExc_BaseExceptionGroup, "sO", message.c_str(), all.ptr()));
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
  throw PythonError{};
}

void must_not_be_in_task(const char* what) {
  if (in_host_task())
    throw Error(ErrorKind::runtime,
                std::string(what) + ": must not be called in a host task, which would wait for its own end");
}

}  // namespace

void wait_for(const Array& array) {
  note_look("look at an array");
  wait_until_written(array);
}

void wait_until_written(const Array& array) {
  wait_settled(array);
  check_failure(array);
}

void wait_for(const std::vector<Array>& arrays) {
  std::vector<FailurePtr> failures;
  std::optional<Wait> wait;  // one for all of them
  for (const Array& a : arrays) {
    note_look("look at an array");
    if (!wait && !a.storage()->settled()) wait.emplace();
    wait_settled(a);
    if (FailurePtr failure = a.failure()) failures.push_back(std::move(failure));
  }
  raise(failures);
}

void wait_mark(uint64_t mark, const char* what) {
  must_not_be_in_task("waitall");
  if (Engine::get().ring.has_ended(mark)) return what ? void() : found_there("waitall");
  Call call("waitall");
  Wait wait(what);
  wait_with_signals("waitall", [&](auto slice) { return Engine::get().waiter.wait_mark(mark, slice); });
}

void wait_all(uint64_t mark, const char* what) {
  note_look("wait");
  wait_mark(mark, what);
  FailureLog::Unseen unseen = Engine::get().failures.take_unseen();
  raise(unseen.failures, unseen.unkept);
}

void set_python_error(const Error& error) { PyErr_SetString(python_type(error.kind), error.what()); }

void set_python_error(const Failure& failure) {
  try {
    nb::object exception = exception_of(failure);
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr()));
    // A task's exception has a context of its own: that of who reads it does not take its place.
    if (failure.exception)
      PyErr_Restore(Py_NewRef(type), exception.ptr(), PyException_GetTraceback(exception.ptr())), exception.release();
    else
      PyErr_SetObject(type, exception.ptr());
  } catch (nb::python_error& error) {
    error.restore();
  }
}

// --- bringing the engine to rest -------------------------------------------------------------------------------------

bool close_door() {
  if (standing > 0 && !door) let_through();
  stand_at_door(true);
  unsigned long me = PyThread_get_thread_ident();
  return door.exchange(me) == me;
}

void open_door() {
  if (door != kGivenUp) door = 0;
}

void give_up(const char* why) { given_up = why, door = kGivenUp; }
bool gave_up() { return given_up; }

void quiesce() {
  must_not_be_in_task("configure");
  Engine& engine = Engine::get();
  Door closed;
  for (;;) {
    wait_mark(engine.ring.next());
    try {
      wait_with_signals("waitall", [&](auto slice) { return engine.stop_workers(slice); });
    } catch (...) {
      engine.resume_workers();
      throw;
    }
    if (engine.at_rest()) return;
    engine.pool.start();  // somebody has come through, and issued more
  }
}

}  // namespace forerun
