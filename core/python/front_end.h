// The front end: the data of this folder's code, and the order in which it issues operations. One thread has it at a
// time. The interpreter lock ensures that; an interpreter without that lock has a lock for every object instead, and
// the lock of one object is used for the front end. It is released like the interpreter lock, wherever its thread
// leaves the interpreter to wait.
#pragma once
#include <Python.h>

namespace forerun {

#ifdef Py_GIL_DISABLED

inline PyObject* front_end = nullptr;  // the object

// Creates it; false with an exception set.
inline bool make_front_end() {
  return (front_end = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type))) != nullptr;
}

// While it lives, this thread, which is attached to the interpreter, holds the front end.
class InFrontEnd {
 public:
  InFrontEnd() { PyCriticalSection_Begin(&section_, front_end); }
  InFrontEnd(const InFrontEnd&) = delete;
  ~InFrontEnd() { PyCriticalSection_End(&section_); }

 private:
  PyCriticalSection section_;
};

template <auto function>
struct CallInFrontEnd;
template <class Result, class... Arguments, Result (*function)(Arguments...)>
struct CallInFrontEnd<function> {
  static Result call(Arguments... arguments) {
    InFrontEnd in_front_end;
    return function(arguments...);
  }
};

// A function for a table of CPython's, which runs in the front end. Functions that visit objects do not need it: other
// threads are stopped.
template <auto function>
inline constexpr auto* exclusive = CallInFrontEnd<function>::call;

#else

inline bool make_front_end() { return true; }

class InFrontEnd {
 public:
  InFrontEnd() {}  // so that no compiler takes a variable of this class for an unused one
};

template <auto function>
inline constexpr auto* exclusive = function;

#endif

// Calls f() in the front end.
template <class F>
decltype(auto) in_front_end(F f) {
  InFrontEnd here;
  return f();
}

}  // namespace forerun
