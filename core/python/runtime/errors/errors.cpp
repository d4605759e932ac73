#include "python/runtime/errors/errors.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/runtime/errors/task_errors.h"

namespace forerun {

namespace {

PyObject* rank_failed = nullptr;

PyObject* python_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::value: return PyExc_ValueError;
    case ErrorKind::type: return PyExc_TypeError;
    case ErrorKind::index: return PyExc_IndexError;
    case ErrorKind::memory: return PyExc_MemoryError;
    case ErrorKind::not_implemented: return PyExc_NotImplementedError;
    case ErrorKind::overflow: return PyExc_OverflowError;
    case ErrorKind::zero_division: return PyExc_ZeroDivisionError;
    case ErrorKind::rank_failed: return rank_failed ? rank_failed : PyExc_RuntimeError;
    default: return PyExc_RuntimeError;
  }
}

}  // namespace

void set_rank_failed(PyObject* type) { Py_XSETREF(rank_failed, Py_NewRef(type)); }

void check_failure(const Array& array) {
  if (FailurePtr failure = array.failure()) {
    set_python_error(*failure);
    throw PythonError{};
  }
}

namespace {

nb::object exception_of(const Failure& failure) {
  Engine::get().failures.seen(failure);
  return failure.exception ? raised(failure) : raised(failure, python_type(failure.kind));
}

// The exceptions of the failures, each once.
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

}  // namespace

void raise_failures(const std::vector<FailurePtr>& failures, uint64_t more) {
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

void set_python_error(const Error& error) { PyErr_SetString(python_type(error.kind), error.what()); }

void set_python_error(const Failure& failure) {
  try {
    nb::object exception = exception_of(failure);
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr()));
    // A task's exception has a context of its own, which the reader's context does not replace.
    if (failure.exception)
      PyErr_Restore(Py_NewRef(type), exception.ptr(), PyException_GetTraceback(exception.ptr())), exception.release();
    else
      PyErr_SetObject(type, exception.ptr());
  } catch (nb::python_error& error) {
    error.restore();
  }
}

}  // namespace forerun
