#include "python/ops/host_task.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "capture/captured_program.h"
#include "cpu/threads.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/numpy_api.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/conversion/numpy_memory.h"
#include "python/object/scalar.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/errors/task_errors.h"
#include "python/runtime/errors/task_state.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/submission/arguments.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

// Ops of a task are not recorded in the program that is captured in this thread, which may wait for it.
struct InTask {
  ~InTask() {
    capture = outer;
    PyErr_Clear();  // clears an exception for which there was no memory
  }
  const TaskScope scope;
  Recording* const outer = std::exchange(capture, nullptr);
};

// A view, for a task, of a copy of its own.
PyObject* own_view(const Array& array) {
  char* data = array.storage()->data();
  if (bytes_as_bools && !only_bools(array.layout, data)) return shared_view(array);  // also a copy
  int64_t bytes = 0;
  Layout apart = array.layout.apart(bytes);
  const npy_intp size = bytes;
  nb::object memory = nb::steal(PyArray_SimpleNew(1, &size, NPY_UINT8));
  if (!memory) return nullptr;
  nb::object from = nb::steal(numpy_view(array.layout, data, false, nullptr));
  nb::object view =
      nb::steal(numpy_view(apart, PyArray_BYTES(reinterpret_cast<PyArrayObject*>(memory.ptr())), true, memory.ptr()));
  auto* made = reinterpret_cast<PyArrayObject*>(view.ptr());
  if (!from || !view || PyArray_CopyInto(made, reinterpret_cast<PyArrayObject*>(from.ptr())) < 0) return nullptr;
  PyArray_CLEARFLAGS(made, NPY_ARRAY_WRITEABLE);
  return view.release().ptr();
}

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
  ~HostKernel() override { release_object(fn_); }
  const char* name() const override { return name_; }
  bool droppable() const override { return kind_ == HostTask::fills; }
  int64_t tiles() const override { return cut_.pieces; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t piece) override {
    const bool at_once = PyGILState_Check();      // in the thread that issues it,
    const bool in_program = at_once || op.brief;  // or in a thread that waits
    std::optional<FrontEndSignals> signals;
    if (!at_once) signals.emplace();  // programs that the task starts must be killable like any others
    Locked locked;
    InTask entered;
    hang_if_finalizing([&] {
      if (call(op, piece) || (in_program && call_again(op, piece))) return;
      if (!in_program) throw taken_exception();
      // Its exception would hold the frames of the program, and with them the arrays that fail. On a worker there are
      // no such frames.
      if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
      PyErr_Clear();
      throw RunLater{};
    });
  }

 private:
  Buffer* buffer(Op& op, int i) { return static_cast<Buffer*>(op.access(i).storage); }

  // Operand i, or the part of it for a piece.
  Layout part(int i, int64_t piece) const {
    Layout part = layouts_[i];
    if (cut_.pieces == 1) return part;
    int64_t n = part.shape[cut_.axis], from = n * piece / cut_.pieces, to = n * (piece + 1) / cut_.pieces;
    part.offset += from * part.strides[cut_.axis];
    part.shape[cut_.axis] = to - from;
    part.size = part.size / n * (to - from);
    return part;
  }

  // False with an exception set. The task itself runs outside of the front end.
  bool call(Op& op, int64_t piece) {
    nb::object args = in_front_end([&] { return operands(op, piece); });
    if (!args) return false;
    nb::object result = nb::steal(PyObject_CallObject(fn_, args.ptr()));
    const bool fills = kind_ == HostTask::fills;
    if (fills) close_rooms(args.ptr());
    args.reset();
    return result && (fills || in_front_end([&] { return store(op, piece, result.ptr()); }));
  }

  // The arguments of the task, a tuple; null with an exception set.
  nb::object operands(Op& op, int64_t piece) {
    bool fills = kind_ == HostTask::fills;
    int n_out = static_cast<int>(layouts_.size()) - n_in_;
    nb::object args = nb::steal(PyTuple_New(n_in_ + (fills ? n_out : 0)));
    for (int i = 0; args && i < n_in_; ++i) {
      // The array holds its block: a callable may keep it, and later writes then use another block. The block of a part
      // is a copy: other ops may write beside it meanwhile.
      const Access& a = op.access(i);
      PyObject* view = a.place && !a.loose ? own_view(Array(buffer(op, i), part(i, piece)))
                                           : shared_view(Array(buffer(op, i), part(i, piece)));
      if (!view) return {};
      if (kind_ != HostTask::any) PyArray_ENABLEFLAGS(reinterpret_cast<PyArrayObject*>(view), NPY_ARRAY_WRITEABLE);
      PyTuple_SET_ITEM(args.ptr(), i, view);
    }
    for (int i = n_in_; args && fills && i < n_in_ + n_out; ++i) {
      PyObject* room =
          PyMemoryView_FromMemory(buffer(op, i)->data(), static_cast<Py_ssize_t>(layouts_[i].nbytes()), PyBUF_WRITE);
      if (!room) return {};
      PyTuple_SET_ITEM(args.ptr(), i, room);
    }
    return args;
  }

  // In a thread of the program, a handler of a signal may have raised in the middle of the task; the task, which is
  // deterministic, then runs again to show that the exception was not its own.
  bool call_again(Op& op, int64_t piece) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    nb::object kind = nb::steal(type), exception = nb::steal(value), traceback = nb::steal(trace);
    if (traceback) PyException_SetTraceback(exception.ptr(), traceback.ptr());
    const bool done = call(op, piece);
    if (done) Py_XSETREF(task_state.interruption, exception.release().ptr());
    return done;
  }

  // Views of the memory that the task filled, which frames of its exception may hold, must not be used any more.
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
    Dims shape = shape_of(array);
    Layout want = part(i, piece);
    if (!(shape == want.shape)) {
      PyErr_Format(PyExc_ValueError, "%s: must return shape %s, got %s", name_, to_string(want.shape).c_str(),
                   to_string(shape).c_str());
      return false;
    }
    Buffer* room = buffer(op, i);
    const bool whole = op.access(i).mode == Mode::write && cut_.pieces == 1 && kind_ == HostTask::trusted &&
                       from.is(value) && room->unshared();
    // Two references: of the task's result, and of the storage.
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

constexpr int64_t kMostCopied =
    int64_t{2} << 20;  // bytes of a part of an array that a task gets as a copy, so that it is ordered by that part

void build_host(Op& op, const char* name, PyObject* fn, const std::vector<Array>& inputs,
                const std::vector<Array>& outputs, HostTask kind, Cut cut) {
  std::vector<const void*> reads;  // in order: both lists may be long
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
  op.cost = UINT32_MAX;  // not known
  op.emplace<HostKernel>(name, fn, inputs, outputs, kind, cut);
}

namespace {

// --- host tasks ------------------------------------------------------------------------------------------------------

[[noreturn]] void refuse_cut(const char* label, Cut cut, const Array& a) {
  throw Error(ErrorKind::value, std::string(label) + ": operands must have one extent of at least " +
                                    std::to_string(cut.pieces) + " along axis " + std::to_string(cut.axis) +
                                    ", got shape " + to_string(a.layout.shape));
}

void check_cut(const char* label, Cut cut, const std::vector<Array>& operands) {
  for (const Array& a : operands) {
    bool has = cut.axis >= 0 && cut.axis < a.layout.ndim() && cut.pieces > 0 && a.layout.shape[cut.axis] >= cut.pieces;
    if (!has || a.layout.shape[cut.axis] != operands[0].layout.shape[cut.axis]) refuse_cut(label, cut, a);
  }
}

int64_t bytes_of(const std::vector<Array>& in, const std::vector<Array>& out) {
  int64_t bytes = 0;
  for (const auto* arrays : {&in, &out})
    for (const Array& a : *arrays) bytes += a.layout.nbytes();
  return bytes;
}

constexpr int64_t kMostBrief = 1 << 21;  // bytes: for fewer, NumPy's functions take some milliseconds at most

// outs: for each result its shape and dtype; or an array, which is written. at_once: bytes of operands and results
// together, up to which the task costs no more than handing it over, and may run during the call. Not 0: the task never
// sleeps, and takes some milliseconds at most for up to kMostBrief bytes, so that a waiting thread may run it.
nb::list host(nb::handle fn, nb::handle inputs, nb::handle outs, nb::handle device, const char* name, const char* queue,
              bool trusted, bool fills, int64_t pieces, int axis, int64_t at_once) {
  const char* label = intern_some(name);
  std::vector<Array> in = args(label, inputs), out;
  int d = !device.is_none() || in.empty() ? device_index(label, device) : device_of(in[0]);
  if (device.is_none())
    for (const Array& a : in) same_device(label, in[0], a);
  for (nb::handle spec : outs)
    out.push_back(is_array(spec.ptr()) ? get_writable(label, spec.ptr())
                                       : Array::make(parse_dtype(label, nb::object(spec[1]).ptr()),
                                                     parse_dims(label, nb::object(spec[0]).ptr()), budget_of(d)));
  Cut cut{pieces, axis};
  if (pieces != 1 && fills)
    throw Error(ErrorKind::value, std::string(label) + ": a task that fills memory must not be cut, got " +
                                      std::to_string(pieces) + " pieces");
  if (pieces != 1) check_cut(label, cut, in), check_cut(label, cut, out);
  if (pieces != 1 && !in.empty() && !out.empty() && in[0].layout.shape[axis] != out[0].layout.shape[axis])
    refuse_cut(label, cut, out[0]);
  Building op;
  build_host(*op, label, fn.ptr(), in, out, fills ? HostTask::fills : trusted ? HostTask::trusted : HostTask::any, cut);
  const int64_t bytes = bytes_of(in, out);
  (*op).brief = at_once > 0 && pieces == 1 && bytes <= kMostBrief;
  op.issue(d, std::strcmp(queue, "io") == 0 ? Queue::Kind::io : Queue::Kind::compute, (*op).brief && bytes <= at_once);
  nb::list results;
  size_t i = 0;
  for (nb::handle spec : outs) {
    Array& a = out[i++];
    results.append(is_array(spec.ptr()) ? wrapped(std::move(a)) : wrapped_result(std::move(a)));
  }
  return results;
}

}  // namespace

void init_host_tasks(Module& m) {
  m.def("host", host, nb::arg("fn"), nb::arg("inputs"), nb::arg("outs"), nb::arg("device").none() = nb::none(),
        nb::arg("name") = "host", nb::arg("queue") = "compute", nb::arg("trusted") = false, nb::arg("fills") = false,
        nb::arg("pieces") = 1, nb::arg("axis") = 0, nb::arg("at_once") = 0);
}

}  // namespace forerun
