#include "python/runtime/errors/task_errors.h"

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "python/bindings.h"
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/errors/task_state.h"
#include "python/runtime/interpreter/deferred_release.h"

namespace forerun {

namespace {

// A Python exception in the state in which a task raised it. Readers raise copies of it, each in that state.
struct Raised : DeferredRelease {
  PyObject *exception, *trace, *context, *notes;  // all except the first may be null

  Raised(PyObject* exception, PyObject* trace, PyObject* context, PyObject* notes)
      : DeferredRelease(end), exception(exception), trace(trace), context(context), notes(notes) {}
  static void end(DeferredRelease* what) {
    auto* raised = static_cast<Raised*>(what);
    for (PyObject* o : {raised->exception, raised->trace, raised->context, raised->notes}) Py_XDECREF(o);
    delete raised;
  }
};

// A failure may be destroyed by any thread, also under the engine's lock, where waiting for the interpreter lock is not
// allowed.
void discard(void* kept) { release_under_gil_later(static_cast<Raised*>(kept)); }

// Code that describes an exception may itself fail (it may be the program's code): then the description is omitted.
template <class F>
void quietly(F f) {
  f();
  PyErr_Clear();
}

void add_site(nb::handle exception, uint32_t where) {
  Site s = site(where);
  if (!s.line) return;
  nb::object file = nb::steal(PyUnicode_DecodeFSDefault(s.file.c_str()));
  nb::object note = nb::steal(file ? PyUnicode_FromFormat("issued at %U:%d", file.ptr(), s.line) : nullptr);
  nb::object add = nb::steal(PyObject_GetAttrString(PyExc_BaseException, "add_note"));
  if (note && add) Py_XDECREF(PyObject_CallFunctionObjArgs(add.ptr(), exception.ptr(), note.ptr(), nullptr));
}

std::string described(PyObject* exception) {
  std::string text = Py_TYPE(exception)->tp_name;
  nb::object message = nb::steal(PyObject_Str(exception));
  PyErr_Clear();
  nb::object bytes =
      nb::steal(message ? PyUnicode_AsEncodedString(message.ptr(), "utf-8", "backslashreplace") : nullptr);
  PyErr_Clear();
  return bytes ? text + ": " + PyBytes_AS_STRING(bytes.ptr()) : text + ", whose text could not be had";
}

// Clears the local variables in the frames of an exception, and of its causes.
void clear_frames(nb::handle exception) {
  nb::object clear = nb::steal(PyImport_ImportModule("traceback")), next = nb::borrow(exception);
  for (int most = 100; clear && next && !next.is_none() && most > 0; --most) {
    nb::object trace = nb::steal(PyException_GetTraceback(next.ptr()));
    if (trace) Py_XDECREF(PyObject_CallMethod(clear.ptr(), "clear_frames", "O", trace.ptr()));
    next = nb::steal(PyException_GetContext(next.ptr()));
  }
}

}  // namespace

Error taken_exception() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  nb::object kind = nb::steal(type), exception = nb::steal(value), traceback = nb::steal(trace);
  if (traceback) PyException_SetTraceback(exception.ptr(), traceback.ptr());
  if (waited_for_itself()) quietly([&] { clear_frames(exception); });
  std::string message;
  quietly([&] { message = described(exception.ptr()); });
  nb::object notes;
  quietly([&] { notes = nb::steal(PyObject_GetAttrString(exception.ptr(), "__notes__")); });
  quietly([&] { notes = nb::steal(notes && PyList_Check(notes.ptr()) ? PyList_AsTuple(notes.ptr()) : nullptr); });
  run_deferred_releases();
  auto kept =
      std::make_unique<Raised>(exception.ptr(), traceback.ptr(), PyException_GetContext(exception.ptr()), notes.ptr());
  traceback.release(), notes.release();
  exception.release();
  return Error(ErrorKind::python, message, std::shared_ptr<void>(kept.release(), discard));
}

namespace {

// copy.copy of an exception; if its type's constructor fails, without calling it. Null if there is no copy.
nb::object copy_of(nb::handle exception) {
  nb::object made, args = nb::steal(PyObject_GetAttrString(exception.ptr(), "args"));
  quietly([&] {
    nb::object copy = nb::steal(PyImport_ImportModule("copy"));
    made = nb::steal(copy ? PyObject_CallMethod(copy.ptr(), "copy", "O", exception.ptr()) : nullptr);
  });
  if (args && (!made || Py_TYPE(made.ptr()) != Py_TYPE(exception.ptr()) || made.is(exception)))
    quietly([&] {
      auto* base = reinterpret_cast<PyTypeObject*>(PyExc_BaseException);
      made = nb::steal(base->tp_new(Py_TYPE(exception.ptr()), args.ptr(), nullptr));
      nb::object own = nb::steal(PyObject_GenericGetDict(exception.ptr(), nullptr));
      nb::object its = nb::steal(made ? PyObject_GenericGetDict(made.ptr(), nullptr) : nullptr);
      if (!own || !its || PyDict_Update(its.ptr(), own.ptr()) < 0) made.reset();
    });
  // The constructor's arguments are not always those that the exception has kept.
  nb::object name = nb::steal(PyUnicode_FromString("args"));
  if (!args || !made || !name || PyObject_GenericSetAttr(made.ptr(), name.ptr(), args.ptr()) < 0) made.reset();
  PyErr_Clear();
  return made;
}

}  // namespace

// A raised exception holds the frames that it passes, and these hold the arrays that failed, which hold the failure:
// with the task's own exception that would be a reference cycle that no collector finds. So a copy is raised.
nb::object raised(const Failure& failure) {
  auto* kept = static_cast<Raised*>(failure.exception.get());
  nb::object exception = copy_of(kept->exception);
  if (!exception) {
    exception = nb::borrow(kept->exception);
  } else {
    // steals the reference that the other call returns
    PyException_SetCause(exception.ptr(), PyException_GetCause(kept->exception));
    quietly([&] {
      nb::object suppress = nb::steal(PyObject_GetAttrString(kept->exception, "__suppress_context__"));
      if (suppress) PyObject_SetAttrString(exception.ptr(), "__suppress_context__", suppress.ptr());
    });
  }
  PyException_SetTraceback(exception.ptr(), kept->trace ? kept->trace : Py_None);
  PyException_SetContext(exception.ptr(), Py_XNewRef(kept->context));
  quietly([&] {
    nb::object notes = nb::steal(kept->notes ? PySequence_List(kept->notes) : PyList_New(0));
    if (notes) PyObject_SetAttrString(exception.ptr(), "__notes__", notes.ptr());
  });
  quietly([&] { add_site(exception, failure.site); });
  return exception;
}

nb::object raised(const Failure& failure, PyObject* type) {
  nb::object exception = checked(PyObject_CallFunction(type, "s", failure.message.c_str()));
  quietly([&] { add_site(exception, failure.site); });
  return exception;
}

}  // namespace forerun
