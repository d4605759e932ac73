// Acquiring and releasing the interpreter lock (GIL) so that neither C++ exceptions nor the end of the interpreter
// leave it in a wrong state.
#pragma once
#include <Python.h>
#ifdef __linux__
#include <cxxabi.h>
#include <unistd.h>
#endif

#include <utility>

namespace forerun {

// Runs `f`, which may acquire the GIL. A finalizing interpreter ends every thread that does so, up to Python 3.13 by
// pthread_exit: it unwinds the stack through C++ frames that catch all exceptions, must not throw, or own Python
// objects, without the GIL. Instead, as from Python 3.14 on, the thread sleeps until the process ends. On macOS and
// Windows the end of a thread unwinds no C++ frames.
template <class F>
decltype(auto) hang_if_finalizing(F f) {
#ifdef __linux__
  try {
    return f();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
#else
  return f();
#endif
}

// While it lives, this thread, which holds the GIL, releases it.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  ~Unlocked() {
    hang_if_finalizing([&] { PyEval_RestoreThread(state_); });
  }

 private:
  PyThreadState* state_;
};

// Calls f() without the GIL.
template <class F>
decltype(auto) without_lock(F f) {
  Unlocked unlocked;
  return f();
}

// While it lives, this thread holds the GIL, whether it held it before or not.
class Locked {
 public:
  Locked() : state_(hang_if_finalizing([] { return PyGILState_Ensure(); })) {}
  Locked(const Locked&) = delete;
  ~Locked() {
    hang_if_finalizing([&] { PyGILState_Release(state_); });
  }

 private:
  PyGILState_STATE state_;
};

// Releases a Python object, in any thread; once the interpreter has ended, the object no longer exists.
inline void release_object(PyObject* object) {
  if (!Py_IsInitialized()) return;
  Locked locked;
  hang_if_finalizing([&] { Py_XDECREF(object); });
}

}  // namespace forerun
