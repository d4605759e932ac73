// The interpreter lock, acquired and released so that neither C++ exceptions nor the end of the interpreter leave it in
// a wrong state.
#pragma once
#include <Python.h>
#ifdef __linux__
#include <cxxabi.h>
#include <unistd.h>
#endif

#include <utility>

namespace forerun {

// Runs `f`, which may come for the interpreter lock. An interpreter that goes away ends every thread that does so, up
// to Python 3.13 by pthread_exit: it unwinds the stack, through C++ frames that catch all there is, must not throw, or
// own Python objects, without the lock. As from Python 3.14 on, the thread sleeps instead, until the process ends. On
// macOS and Windows the end of a thread unwinds no C++ frames.
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

// While it lives, this thread, which has the lock, is without it.
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

// f() without the lock.
template <class F>
decltype(auto) without_lock(F f) {
  Unlocked unlocked;
  return f();
}

// While it lives, this thread, which may have the lock or not, has it.
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

// Releases a Python object, in any thread; once there is no interpreter, there is no object.
inline void release_object(PyObject* object) {
  if (!Py_IsInitialized()) return;
  Locked locked;
  hang_if_finalizing([&] { Py_XDECREF(object); });
}

}  // namespace forerun
