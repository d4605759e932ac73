#include "python/runtime/interpreter/loop_compiler.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "cpu/codegen/compiled_loops.h"
#include "python/bindings.h"
#include "python/runtime/interpreter/gil.h"

namespace forerun {

namespace {

struct State {
  std::mutex mutex;
  std::condition_variable ended;
  bool running = false, paused = false;  // guarded by mutex
};
State& state() {
  static auto* only = new State;  // never destroyed: the thread may outlive static destructors
  return *only;
}

PyObject* compiler = nullptr;  // used with the interpreter lock

RowsFunction compiled(const std::string& description) {
  Locked locked;
  return hang_if_finalizing([&]() -> RowsFunction {
    PyObject* address = PyObject_CallFunction(compiler, "s", description.c_str());
    void* function = address ? PyLong_AsVoidPtr(address) : nullptr;
    if (PyErr_Occurred()) PyErr_WriteUnraisable(compiler);
    Py_XDECREF(address);
    return reinterpret_cast<RowsFunction>(function);
  });
}

void work() {
  State& s = state();
  CompiledLoops& loops = CompiledLoops::get();
  for (;;) {
    std::shared_ptr<CompiledLoop> loop;
    {
      std::lock_guard held(s.mutex);
      if (!s.paused) loop = loops.next();
      if (!loop) {
        s.running = false;
        s.ended.notify_all();
        return;
      }
    }
    loops.answer(*loop, compiled(loop->description));
  }
}

// If no thread can be started, descriptions wait until the next request.
void wake() {
  State& s = state();
  std::lock_guard held(s.mutex);
  if (s.running || s.paused) return;
  try {
    std::thread(work).detach();
    s.running = true;
  } catch (const std::system_error&) {
  }
}

void wait_until_ended() {
  without_lock([] {
    State& s = state();
    std::unique_lock held(s.mutex);
    s.ended.wait(held, [&] { return !s.running; });
  });
}

}  // namespace

void set_loop_compiler(PyObject* function) { Py_XSETREF(compiler, Py_NewRef(function)); }

void pause_loop_compiler() {
  {
    std::lock_guard held(state().mutex);
    state().paused = true;
  }
  wait_until_ended();
}

void resume_loop_compiler(bool child) {
  if (child && !state().paused) return CompiledLoops::get().close();
  {
    std::lock_guard held(state().mutex);
    state().paused = false;
  }
  if (CompiledLoops::get().waiting()) wake();
}

void init_loop_compiler(Module& m) {
  m.def("open_loop_compiler", [] { CompiledLoops::get().set_compiler(wake); }, "From now on loops are compiled.");
  m.def("wait_for_loop_compiler", wait_until_ended, "Waits until all loops that were asked for are compiled.");
  m.def(
      "set_compile_from", [](int64_t elements) { CompiledLoops::get().set_compile_from(elements); },
      nb::arg("elements"), "How many elements steps compute until a loop that does their work is compiled.");
}

}  // namespace forerun
