#include "bind/host.h"

#include "bind/numpy.h"
#include "bind/site.h"

namespace forerun {

namespace {

// The Python exception that is set now, as a failure of an op issued at `where`. Clears it.
FailurePtr take_exception(uint32_t where) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  Site s = site(where);
  std::string note = "issued at " + s.file + ":" + std::to_string(s.line);
  if (s.line) Py_XDECREF(PyObject_CallMethod(value, "add_note", "s", note.c_str()));
  PyErr_Clear();
  auto failure = std::make_shared<Failure>();
  failure->kind = ErrorKind::python;
  failure->site = where;
  PyObject* text = PyObject_Str(value);
  if (text) failure->message = std::string(Py_TYPE(value)->tp_name) + ": " + PyUnicode_AsUTF8(text);
  Py_XDECREF(text), Py_XDECREF(type);
  PyErr_Clear();
  PyObject* pair = PyTuple_Pack(2, value, trace ? trace : Py_None);
  Py_DECREF(value), Py_XDECREF(trace);
  failure->exception = std::shared_ptr<void>(pair, [](void* exception) {
    if (Py_IsInitialized()) {
      PyGILState_STATE state = PyGILState_Ensure();
      Py_XDECREF(static_cast<PyObject*>(exception));
      PyGILState_Release(state);
    }
  });
  return failure;
}

// copy.copy of an exception; with its type's own constructor left out if that refuses. Null with an exception set.
PyObject* copy_of(PyObject* exception) {
  PyObject* copy = PyImport_ImportModule("copy");
  PyObject* made = copy ? PyObject_CallMethod(copy, "copy", "O", exception) : nullptr;
  Py_XDECREF(copy);
  if (made && Py_TYPE(made) == Py_TYPE(exception)) return made;
  Py_XDECREF(made);
  PyErr_Clear();
  PyObject* args = PyObject_GetAttrString(exception, "args");
  auto* base = reinterpret_cast<PyTypeObject*>(PyExc_BaseException);
  made = args ? base->tp_new(Py_TYPE(exception), args, nullptr) : nullptr;
  Py_XDECREF(args);
  PyObject* own = made ? PyObject_GenericGetDict(exception, nullptr) : nullptr;
  PyObject* its = own ? PyObject_GenericGetDict(made, nullptr) : nullptr;
  bool good = its && PyDict_Update(its, own) == 0;
  Py_XDECREF(own), Py_XDECREF(its);
  if (!good) Py_CLEAR(made);
  return made;
}

}  // namespace

// An exception that is raised holds the frames that it passes, and these hold the arrays that failed, which hold the failure: a
// circle that no collector sees. So what is raised is a copy.
void raise_copy(PyObject* exception, PyObject* trace) {
  PyObject *made = copy_of(exception), *args = PyObject_GetAttrString(exception, "args");
  if (!made || !args || PyObject_SetAttrString(made, "args", args) < 0) {
    Py_XDECREF(made), Py_XDECREF(args);
    return;
  }
  Py_DECREF(args);
  PyObject* notes = PyObject_GetAttrString(exception, "__notes__");
  PyObject* own_notes = notes ? PySequence_List(notes) : nullptr;
  if (own_notes) PyObject_SetAttrString(made, "__notes__", own_notes);
  Py_XDECREF(notes), Py_XDECREF(own_notes);
  PyErr_Clear();
  PyException_SetCause(made, PyException_GetCause(exception));  // both steal what the other gives
  PyException_SetContext(made, PyException_GetContext(exception));
  PyObject* suppress = PyObject_GetAttrString(exception, "__suppress_context__");
  if (suppress) PyObject_SetAttrString(made, "__suppress_context__", suppress);
  Py_XDECREF(suppress);
  PyException_SetTraceback(made, trace);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made)), made);
  Py_DECREF(made);
}

namespace {

class HostKernel final : public Kernel {
 public:
  HostKernel(const char* name, PyObject* fn, const std::vector<Array>& inputs, const std::vector<Array>& outputs, bool trusted)
      : name_(name), fn_(Py_NewRef(fn)), n_in_(static_cast<int>(inputs.size())), trusted_(trusted) {
    for (const Array& a : inputs) layouts_.push_back(a.layout);
    for (const Array& a : outputs) layouts_.push_back(a.layout);
  }
  HostKernel(const HostKernel& o) : name_(o.name_), fn_(Py_NewRef(o.fn_)), n_in_(o.n_in_), trusted_(o.trusted_), layouts_(o.layouts_) {}
  ~HostKernel() override {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(fn_);
    PyGILState_Release(state);
  }
  const char* name() const override { return name_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t) override {
    PyGILState_STATE state = PyGILState_Ensure();
    FailurePtr failure = call(op) ? nullptr : take_exception(op.site);
    PyGILState_Release(state);
    if (failure) throw failure;
  }

 private:
  Buffer* buffer(Op& op, int i) { return static_cast<Buffer*>(op.access(i).storage); }

  bool call(Op& op) {
    PyObject* args = PyTuple_New(n_in_);
    bool good = args;
    for (int i = 0; good && i < n_in_; ++i) {
      // The array holds its block: a callable may keep it, and later writes leave the block to it.
      PyObject* view = shared_view(Array(buffer(op, i), layouts_[i]));
      good = view;
      if (view && trusted_) PyArray_ENABLEFLAGS(reinterpret_cast<PyArrayObject*>(view), NPY_ARRAY_WRITEABLE);
      if (view) PyTuple_SET_ITEM(args, i, view);
    }
    PyObject* result = good ? PyObject_CallObject(fn_, args) : nullptr;
    Py_XDECREF(args);
    good = result && store(op, result);
    Py_XDECREF(result);
    return good;
  }

  bool store(Op& op, PyObject* result) {
    int n_out = static_cast<int>(layouts_.size()) - n_in_;
    if (n_out == 1 && !PyTuple_Check(result)) return store_one(op, n_in_, result);
    if (n_out == 0) return true;
    if (!PyTuple_Check(result) || PyTuple_GET_SIZE(result) != n_out) {
      PyErr_Format(PyExc_ValueError, "%s: must return %d arrays, got %R", name_, n_out, Py_TYPE(result));
      return false;
    }
    for (int i = 0; i < n_out; ++i)
      if (!store_one(op, n_in_ + i, PyTuple_GET_ITEM(result, i))) return false;
    return true;
  }

  bool store_one(Op& op, int i, PyObject* value) {
    PyObject* from = PyArray_FROM_O(value);
    if (!from) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(from);
    Dims shape(reinterpret_cast<const int64_t*>(PyArray_DIMS(array)), PyArray_NDIM(array));
    bool good = shape == layouts_[i].shape;
    if (!good) PyErr_Format(PyExc_ValueError, "%s: must return shape %s, got %s", name_, to_string(layouts_[i].shape).c_str(), to_string(shape).c_str());
    PyObject* to = good ? numpy_view(layouts_[i], buffer(op, i)->data(), true, nullptr) : nullptr;
    good = to && PyArray_CopyInto(reinterpret_cast<PyArrayObject*>(to), array) == 0;
    Py_XDECREF(to);
    Py_DECREF(from);
    return good;
  }

  const char* name_;
  PyObject* fn_;
  int n_in_;
  bool trusted_;
  std::vector<Layout> layouts_;  // inputs, then outputs
};

}  // namespace

void build_host(Op& op, const char* name, PyObject* fn, const std::vector<Array>& inputs, const std::vector<Array>& outputs, bool trusted) {
  for (const Array& a : inputs) op.add(a.storage(), Mode::read);
  for (const Array& a : outputs) op.add(a.storage(), a.write_mode());
  op.cost = UINT32_MAX;  // nobody knows
  op.emplace<HostKernel>(name, fn, inputs, outputs, trusted);
}

}  // namespace forerun
