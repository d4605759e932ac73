#include "python/ops/host_task.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/workers.h"
#include "python/bindings.h"
#include "python/capture/captured_program.h"
#include "python/numpy_api.h"
#include "python/object/numpy_memory.h"
#include "python/runtime/call_site.h"
#include "python/runtime/deferred_release.h"
#include "python/runtime/gil.h"

namespace forerun {

namespace {

thread_local int depth = 0;           // of host tasks that this thread is running
thread_local bool self_wait = false;  // the innermost was refused a wait for its own end

// What a task does is not recorded with the program that runs in this thread, which waits for it, perhaps.
struct InTask {
  const bool outer_self_wait = std::exchange(self_wait, false);
  InTask() { ++depth; }
  ~InTask() {
    --depth;
    capture = outer;
    self_wait = outer_self_wait;
    PyErr_Clear();  // nothing is left behind where there was no memory to take it along
  }
  Recording* const outer = std::exchange(capture, nullptr);
};

// A Python exception as a task has raised it. Readers raise copies of it: each gets it as it was.
struct Raised : Later {
  PyObject *exception, *trace, *context, *notes;  // all but the first may be null

  Raised(PyObject* exception, PyObject* trace, PyObject* context, PyObject* notes)
      : Later(end), exception(exception), trace(trace), context(context), notes(notes) {}
  static void end(Later* what) {
    auto* raised = static_cast<Raised*>(what);
    for (PyObject* o : {raised->exception, raised->trace, raised->context, raised->notes}) Py_XDECREF(o);
    delete raised;
  }
};

// A failure may end its life in any thread, also under the engine's lock, where the interpreter lock must not be waited
// for.
void discard(void* kept) { later(static_cast<Raised*>(kept)); }

// What says something about an exception may fail itself (it may be the program's code): then nothing is said.
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
  nb::object said = nb::steal(PyObject_Str(exception));
  PyErr_Clear();
  nb::object bytes = nb::steal(said ? PyUnicode_AsEncodedString(said.ptr(), "utf-8", "backslashreplace") : nullptr);
  PyErr_Clear();
  return bytes ? text + ": " + PyBytes_AS_STRING(bytes.ptr()) : text + ", whose text could not be had";
}

// Takes from the frames of an exception, and of those that it came from, what they hold.
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
  if (self_wait) quietly([&] { clear_frames(exception); });
  std::string message;
  quietly([&] { message = described(exception.ptr()); });
  nb::object notes;
  quietly([&] { notes = nb::steal(PyObject_GetAttrString(exception.ptr(), "__notes__")); });
  quietly([&] { notes = nb::steal(notes && PyList_Check(notes.ptr()) ? PyList_AsTuple(notes.ptr()) : nullptr); });
  end_given_up();
  auto kept =
      std::make_unique<Raised>(exception.ptr(), traceback.ptr(), PyException_GetContext(exception.ptr()), notes.ptr());
  traceback.release(), notes.release();
  exception.release();
  return Error(ErrorKind::python, message, std::shared_ptr<void>(kept.release(), discard));
}

namespace {

// copy.copy of an exception; where its type's constructor refuses, without a call of that. Null if there is none.
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
  // What the constructor was given is not always what it has kept.
  nb::object name = nb::steal(PyUnicode_FromString("args"));
  if (!args || !made || !name || PyObject_GenericSetAttr(made.ptr(), name.ptr(), args.ptr()) < 0) made.reset();
  PyErr_Clear();
  return made;
}

// A view for a task of a copy of its own.
PyObject* own_view(const Array& array) {
  char* data = array.storage()->data();
  if (bytes_as_bools && !only_bools(array.layout, data)) return shared_view(array);  // which is a copy, too
  npy_intp bytes = 0;
  Layout apart = array.layout.apart(bytes);
  nb::object memory = nb::steal(PyArray_SimpleNew(1, &bytes, NPY_UINT8));
  if (!memory) return nullptr;
  nb::object from = nb::steal(numpy_view(array.layout, data, false, nullptr));
  nb::object view =
      nb::steal(numpy_view(apart, PyArray_BYTES(reinterpret_cast<PyArrayObject*>(memory.ptr())), true, memory.ptr()));
  auto* made = reinterpret_cast<PyArrayObject*>(view.ptr());
  if (!from || !view || PyArray_CopyInto(made, reinterpret_cast<PyArrayObject*>(from.ptr())) < 0) return nullptr;
  PyArray_CLEARFLAGS(made, NPY_ARRAY_WRITEABLE);
  return view.release().ptr();
}

// What a handler of a signal raised in a task that this thread ran at once.
constinit thread_local PyObject* interruption = nullptr;

class HostKernel final : public Kernel {
 public:
  HostKernel(const char* name, PyObject* fn, const std::vector<Array>& inputs, const std::vector<Array>& outputs,
             HostTask kind, Cut cut)
      : name_(name), fn_(Py_NewRef(fn)), n_in_(static_cast<int>(inputs.size())), kind_(kind), cut_(cut) {
    for (const Array& a : inputs) layouts_.push_back(a.layout);
    for (const Array& a : outputs) layouts_.push_back(a.layout);
  }
  HostKernel(const HostKernel& o)
      : name_(o.name_), fn_(Py_NewRef(o.fn_)), n_in_(o.n_in_), kind_(o.kind_), cut_(o.cut_), layouts_(o.layouts_) {}
  ~HostKernel() override { let_go(fn_); }
  const char* name() const override { return name_; }
  bool droppable() const override { return kind_ == HostTask::fills; }
  int64_t tiles() const override { return cut_.pieces; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t piece) override {
    const bool at_once = PyGILState_Check();  // in the thread that issues it
    std::optional<FrontEndSignals> signals;
    if (!at_once)
      signals.emplace();  // what the task starts, another program perhaps, is to be killed like anything else
    Locked locked;
    InTask entered;
    till_the_end([&] {
      if (call(op, piece) || (at_once && call_again(op, piece))) return;
      if (!at_once) throw taken_exception();
      // Its exception would hold the frames of the program, and with them the arrays that fail. On a worker it has
      // none.
      if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
      PyErr_Clear();
      throw RunLater{};
    });
  }

 private:
  Buffer* buffer(Op& op, int i) { return static_cast<Buffer*>(op.access(i).storage); }

  // Operand i, as far as a piece sees it.
  Layout part(int i, int64_t piece) const {
    Layout part = layouts_[i];
    if (cut_.pieces == 1) return part;
    int64_t n = part.shape[cut_.axis], from = n * piece / cut_.pieces, to = n * (piece + 1) / cut_.pieces;
    part.offset += from * part.strides[cut_.axis];
    part.shape[cut_.axis] = to - from;
    part.size = part.size / n * (to - from);
    return part;
  }

  // False with an exception set.
  bool call(Op& op, int64_t piece) {
    bool fills = kind_ == HostTask::fills;
    int n_out = static_cast<int>(layouts_.size()) - n_in_;
    nb::object args = nb::steal(PyTuple_New(n_in_ + (fills ? n_out : 0)));
    for (int i = 0; args && i < n_in_; ++i) {
      // The array holds its block: a callable may keep it, and later writes leave the block to it. That of a part is a
      // copy: others may write beside it meanwhile.
      const Access& a = op.access(i);
      PyObject* view = a.place && !a.loose ? own_view(Array(buffer(op, i), part(i, piece)))
                                           : shared_view(Array(buffer(op, i), part(i, piece)));
      if (!view) return false;
      if (kind_ != HostTask::any) PyArray_ENABLEFLAGS(reinterpret_cast<PyArrayObject*>(view), NPY_ARRAY_WRITEABLE);
      PyTuple_SET_ITEM(args.ptr(), i, view);
    }
    for (int i = n_in_; args && fills && i < n_in_ + n_out; ++i) {
      PyObject* room =
          PyMemoryView_FromMemory(buffer(op, i)->data(), static_cast<Py_ssize_t>(layouts_[i].nbytes()), PyBUF_WRITE);
      if (!room) return false;
      PyTuple_SET_ITEM(args.ptr(), i, room);
    }
    nb::object result = nb::steal(args ? PyObject_CallObject(fn_, args.ptr()) : nullptr);
    if (fills && args) close_rooms(args.ptr());
    args.reset();
    return result && (fills || store(op, piece, result.ptr()));
  }

  // In the thread that issues, a handler of a signal may have raised, in the middle of the task; then the task, which
  // always does the same, tells by another run that it was not its own.
  bool call_again(Op& op, int64_t piece) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    nb::object kind = nb::steal(type), exception = nb::steal(value), traceback = nb::steal(trace);
    if (traceback) PyException_SetTraceback(exception.ptr(), traceback.ptr());
    const bool done = call(op, piece);
    if (done) Py_XSETREF(interruption, exception.release().ptr());
    return done;
  }

  // What the task has kept of the memory that it filled, in the frames of its exception perhaps, is not to be used any
  // more.
  void close_rooms(PyObject* args) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    for (Py_ssize_t i = n_in_; i < PyTuple_GET_SIZE(args); ++i) {
      Py_XDECREF(PyObject_CallMethod(PyTuple_GET_ITEM(args, i), "release", nullptr));
      PyErr_Clear();
    }
    PyErr_Restore(type, value, trace);
  }

  bool store(Op& op, int64_t piece, PyObject* result) {
    int n_out = static_cast<int>(layouts_.size()) - n_in_;
    if (n_out == 1 && !PyTuple_Check(result)) return store_one(op, n_in_, piece, result);
    if (n_out == 0) return true;
    if (!PyTuple_Check(result) || PyTuple_GET_SIZE(result) != n_out) {
      PyErr_Format(PyExc_ValueError, "%s: must return %d arrays, got %R", name_, n_out, Py_TYPE(result));
      return false;
    }
    for (int i = 0; i < n_out; ++i)
      if (!store_one(op, n_in_ + i, piece, PyTuple_GET_ITEM(result, i))) return false;
    return true;
  }

  bool store_one(Op& op, int i, int64_t piece, PyObject* value) {
    nb::object from = nb::steal(PyArray_FROM_O(value));
    if (!from) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(from.ptr());
    Dims shape(reinterpret_cast<const int64_t*>(PyArray_DIMS(array)), PyArray_NDIM(array));
    Layout want = part(i, piece);
    if (!(shape == want.shape)) {
      PyErr_Format(PyExc_ValueError, "%s: must return shape %s, got %s", name_, to_string(want.shape).c_str(),
                   to_string(shape).c_str());
      return false;
    }
    Buffer* room = buffer(op, i);
    const bool whole = op.access(i).mode == Mode::write && cut_.pieces == 1 && kind_ == HostTask::trusted &&
                       from.is(value) && room->unshared();
    // Two references: of the task's result, and ours.
    if (Block* given = whole ? block_of(value, 2, want.dtype, room->budget) : nullptr)
      return room->replace(given), true;
    nb::object to = nb::steal(numpy_view(want, room->data(), true, nullptr));
    return to && PyArray_CopyInto(reinterpret_cast<PyArrayObject*>(to.ptr()), array) == 0;
  }

  const char* name_;
  PyObject* fn_;
  int n_in_;
  HostTask kind_;
  Cut cut_;
  std::vector<Layout> layouts_;  // inputs, then outputs
};

}  // namespace

void raise_interruption() {
  nb::object raised = nb::steal(std::exchange(interruption, nullptr));
  if (!raised) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
  throw PythonError{};
}

bool in_host_task() { return depth > 0; }
void note_self_wait() { self_wait = true; }

// An exception that is raised holds the frames that it passes, and these hold the arrays that failed, which hold the
// failure: with the task's own exception that would be a circle that no collector sees. So what is raised is a copy.
nb::object raised(const Failure& failure) {
  auto* kept = static_cast<Raised*>(failure.exception.get());
  nb::object exception = copy_of(kept->exception);
  if (!exception) {
    exception = nb::borrow(kept->exception);
  } else {
    PyException_SetCause(exception.ptr(), PyException_GetCause(kept->exception));  // steals what the other gives
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

constexpr int64_t kMostCopied =
    int64_t{2} << 20;  // bytes of a part of an array that a task gets as a copy, to be ordered by that part

void build_host(Op& op, const char* name, PyObject* fn, const std::vector<Array>& inputs,
                const std::vector<Array>& outputs, HostTask kind, Cut cut) {
  std::vector<const void*> reads;  // in order: there may be many of both
  for (const Array& a : inputs) {
    a.layout.nbytes() <= kMostCopied ? add(op, a, Mode::read) : add_loosely(op, a, Mode::read);
    reads.push_back(&*a.storage());
  }
  std::sort(reads.begin(), reads.end());
  for (const Array& a : outputs) {
    bool is_read = std::binary_search(reads.begin(), reads.end(), static_cast<const void*>(&*a.storage()));
    const Mode mode = is_read ? Mode::update : a.write_mode();
    kind == HostTask::fills ? op.add(a.storage(), mode) : add(op, a, mode);
  }
  op.cost = UINT32_MAX;  // nobody knows
  op.emplace<HostKernel>(name, fn, inputs, outputs, kind, cut);
}

}  // namespace forerun
