// The type forerun._core.Program: a sequence of ops that was recorded, and is issued again by a call.
#include "python/capture/captured_program.h"

#include <structmember.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "capture/captured_program.h"
#include "cpu/kernels/copy/copy.h"
#include "engine/devices/memory_budget.h"
#include "engine/operations/op.h"
#include "python/bindings.h"
#include "python/front_end.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/node.h"
#include "python/object/scalar.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/random_keys.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

// A program for the gradients of a recorded call, from gradients of some of its outputs.
struct Back {
  std::vector<bool> arrived;
  nb::object program;
  std::vector<int> flows;  // inputs that get a gradient
};

struct ProgramObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* call;            // Python's data about the recorded call
  std::vector<Back>* backs;  // programs of its gradients
  bool no_back;              // no such program is possible
  PyObject* leaves;          // a tuple of arrays: inputs of these nodes besides its own
  std::shared_ptr<const Program>* program;
  // The state that a call must find unchanged: switches, and which inputs are on the tape.
  std::vector<bool>* taped;
  std::vector<bool>* scalars;  // which inputs, followed by which results, are scalars
  std::vector<int>* graded;    // results that are on the tape
  bool recording, training;
  DType default_float;
  int free;     // the first inputs may be views with any offset
  int results;  // of the outputs, the number of results; gradients need the others
};

constexpr size_t kMostBacks = 32;

ProgramObject* as_program(PyObject* o) { return reinterpret_cast<ProgramObject*>(o); }
PyTypeObject* program_type = nullptr;
PyObject* call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject*);

// --- construction ----------------------------------------------------------------------------------------------------

void begin(nb::handle inputs) {
  if (capture) throw Error(ErrorKind::runtime, "capture: must not be nested, got one inside another");
  capture = new Recording(args("capture", inputs));
}

void drop() { delete std::exchange(capture, nullptr); }

nb::object paused(nb::object function) {
  struct Pause {
    Recording* recording = std::exchange(capture, nullptr);
    ~Pause() { capture = recording; }
  } pause;
  return function();
}

void add_input(nb::handle o) {
  const Array& input = arg("capture_input", o);
  if (!capture) throw Error(ErrorKind::runtime, "capture_input: the thread must capture, got one that does not");
  capture->add_input(input);
}

nb::object end(nb::handle inputs, int free, nb::handle results, nb::handle saved, nb::object about, nb::handle graded,
               nb::object leaves, const char* name, bool apart) {
  std::unique_ptr<Recording> ended(std::exchange(capture, nullptr));
  std::vector<Array> outputs = args("capture", results), more = args("capture", saved);
  int n = static_cast<int>(outputs.size());
  outputs.insert(outputs.end(), more.begin(), more.end());
  auto made = checked(program_type->tp_alloc(program_type, 0));
  ProgramObject* p = as_program(made.ptr());
  p->vectorcall = call;
  p->call = about.inc_ref().ptr();
  p->backs = new std::vector<Back>;
  p->no_back = false;
  p->leaves = leaves.inc_ref().ptr();
  p->free = free;
  std::shared_ptr<Program> program = ended->finish(outputs, {apart, intern_some});
  program->set_name(intern_some(name));
  p->program = new std::shared_ptr<const Program>(std::move(program));
  p->taped = new std::vector<bool>;
  p->scalars = new std::vector<bool>;
  for (nb::handle o : inputs) p->taped->push_back(on_tape(o.ptr())), p->scalars->push_back(is_scalar(o.ptr()));
  for (nb::handle o : results) p->scalars->push_back(is_scalar(o.ptr()));
  p->graded = new std::vector<int>(list_of<int>(graded));
  p->recording = recording, p->training = training, p->default_float = default_float, p->results = n;
  return made;
}

// The origin of an array's values, as far as it is known: the number of an input, or the name of an op; None if this
// thread does not capture.
nb::object maker(nb::handle o) {
  const Array& a = arg("recorded_maker", o);
  if (!capture || !capture->repeatable()) return nb::none();
  auto [input, name] = capture->maker(a.storage());
  return input >= 0 ? nb::object(nb::int_(input)) : nb::object(nb::str(name));
}

nb::object first_read() {
  if (!capture || !capture->read_line()) return nb::none();
  return nb::make_tuple(capture->read_file(), capture->read_line());
}

// --- running ---------------------------------------------------------------------------------------------------------

// Whether the array is a dense part of a larger storage: programs take a copy, whatever its offset is.
bool is_inside(const Array& a) { return a.storage() && a.layout.contiguous() && !a.covers_storage(); }

void fill(const Array& from, const Array& to) {
  Building op;
  build_copy(*op, from, to);
  op.issue(device_of(to));
}

nb::object as_base_array(nb::object o) {
  const Array& a = arg("as_base_array", o);
  if (!is_inside(a)) return o;
  Array copy = Array::make_like(a.layout, a.layout.dtype, a.storage()->budget);
  fill(a, copy);
  return wrapped(std::move(copy));
}

// Copies are allocated, but not filled yet.
bool suits(ProgramObject* p, PyObject* const* inputs, size_t n, std::vector<const Array*>& arrays,
           std::vector<std::pair<size_t, Array>>& copies) {
  const Program& program = **p->program;
  if (n != p->taped->size() || recording != p->recording || training != p->training ||
      default_float != p->default_float)
    return false;
  for (size_t i = 0; i < n; ++i) {
    if (!is_array(inputs[i]) || on_tape(inputs[i]) != (*p->taped)[i] || is_scalar(inputs[i]) != (*p->scalars)[i])
      return false;
    arrays[i] = &as_array(inputs[i])->array;
    if (i < static_cast<size_t>(p->free) && is_inside(*arrays[i]) && !program.writes(i))
      copies.emplace_back(i,
                          Array::make_like(arrays[i]->layout, arrays[i]->layout.dtype, arrays[i]->storage()->budget));
  }
  for (auto& [i, copy] : copies) arrays[i] = &copy;
  return program.takes(arrays);
}

Program::Storages issue_program(const Program& program, const std::vector<const Array*>& inputs) {
  Program::Storages storages = program.storages(inputs);
  auto [seed, number] = draw_numbers(program.drawn());
  if (program.whole()) {
    if (!program.steps().empty()) {
      const Op& first = program.steps()[0]->op;
      Building op;
      program.build(*op, storages, seed, number);
      op.issue_placed(first.queue->device, first.queue->kind, first.budget->device);
    }
    return storages;
  }
  for (auto& step : program.steps()) {
    Building op;
    program.build_step(*op, *step, storages, seed, number);
    op.issue_placed(step->op.queue->device, step->op.queue->kind, step->op.budget->device);
  }
  return storages;
}

PyObject* run(ProgramObject* p, PyObject* const* inputs, size_t n) {
  std::vector<const Array*> arrays(n);
  std::vector<std::pair<size_t, Array>> copies;
  if (!suits(p, inputs, n, arrays, copies)) Py_RETURN_NONE;
  for (auto& [i, copy] : copies) fill(as_array(inputs[i])->array, copy);
  const Program& program = **p->program;
  Program::Storages storages = issue_program(program, arrays);
  auto outputs = [&](size_t from, size_t to) {
    nb::object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(to - from)));
    for (size_t i = from; i < to; ++i) {
      const Program::View& view = program.outputs()[i];
      bool scalar = i < static_cast<size_t>(p->results) && (*p->scalars)[n + i];
      PyObject* array = scalar ? wrap_result(Array(storages.at[view.slot], view.layout))
                               : wrap(Array(storages.at[view.slot], view.layout));
      if (!array) throw PythonError{};
      PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i - from), array);
    }
    return tuple;
  };
  size_t results = static_cast<size_t>(p->results);
  nb::object found = outputs(0, results);
  if (!p->graded->empty()) {
    nb::object saved = outputs(results, program.outputs().size());
    std::vector<PyObject*> from, to;
    for (size_t i = 0; i < n; ++i)
      if ((*p->taped)[i]) from.push_back(inputs[i]);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(p->leaves); ++i) from.push_back(PyTuple_GET_ITEM(p->leaves, i));
    for (int i : *p->graded) to.push_back(PyTuple_GET_ITEM(found.ptr(), i));
    if (!record(reinterpret_cast<PyObject*>(p), from.data(), static_cast<Py_ssize_t>(from.size()), to.data(),
                static_cast<Py_ssize_t>(to.size()), saved.ptr(), 0))
      throw PythonError{};
    watch_saved(to[0], saved.ptr());
  }
  return found.release().ptr();
}

PyObject* call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject*) {
  size_t n = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
  return guarded([&]() -> PyObject* {
    InFrontEnd here;
    if (n != 1 || !PyTuple_Check(args[0]))
      throw Error(ErrorKind::type, "Program: must be called with a tuple of arrays");
    return run(as_program(self), &PyTuple_GET_ITEM(args[0], 0), static_cast<size_t>(PyTuple_GET_SIZE(args[0])));
  });
}

// --- the type --------------------------------------------------------------------------------------------------------

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_program(self)->call);
  if (auto* backs = as_program(self)->backs)  // null if there was no memory for it
    for (const Back& back : *backs) Py_VISIT(back.program.ptr());
  Py_VISIT(as_program(self)->leaves);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(as_program(self)->call);
  if (as_program(self)->backs) as_program(self)->backs->clear();
  Py_CLEAR(as_program(self)->leaves);
  return 0;
}

void dealloc(PyObject* self) {
  ProgramObject* p = as_program(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  delete p->program;
  delete p->taped;
  delete p->scalars;
  delete p->graded;
  delete p->backs;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* get_steps(PyObject* self, void*) {
  auto& all = (*as_program(self)->program)->op_names();
  PyObject* names = PyTuple_New(static_cast<Py_ssize_t>(all.size()));
  for (size_t i = 0; names && i < all.size(); ++i)
    PyTuple_SET_ITEM(names, static_cast<Py_ssize_t>(i), PyUnicode_FromString(all[i]));
  return names;
}
PyObject* get_whole(PyObject* self, void*) { return PyBool_FromLong((*as_program(self)->program)->whole()); }

PyObject* get_name(PyObject* self, void*) { return PyUnicode_FromString((*as_program(self)->program)->name()); }

PyGetSetDef attributes[] = {
    {"name", exclusive<get_name>, nullptr, "Its name in traces and errors.", nullptr},
    {"steps", exclusive<get_steps>, nullptr, "Names of its ops, in order.", nullptr},
    {"whole", exclusive<get_whole>, nullptr, "Whether it runs as one op.", nullptr},
    {},
};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ProgramObject, vectorcall), READONLY, nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char*>(
         "A recorded string of ops: program(inputs) issues it for a tuple of arrays; None if it does not suit them.")},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(exclusive<clear>)},
    {Py_tp_dealloc, reinterpret_cast<void*>(exclusive<dealloc>)},
    {Py_tp_getset, attributes},
    {Py_tp_members, members},
    {},
};
PyType_Spec spec = {
    "forerun._core.Program", sizeof(ProgramObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

bool is_program(PyObject* op) { return Py_IS_TYPE(op, program_type); }

bool run_back(NodeObject* node, const std::vector<nb::object>& gradients, std::vector<nb::object>& back) {
  ProgramObject* p = as_program(node->op);
  if (p->no_back || capture) return false;
  nb::object inputs = nb::borrow(node->inputs), saved = nb::borrow(node->attrs);
  std::vector<bool> arrived(p->graded->size());
  std::vector<PyObject*> given;
  for (size_t i = 0; i < gradients.size(); ++i)
    if ((arrived[i] = static_cast<bool>(gradients[i]))) given.push_back(gradients[i].ptr());
  given.insert(given.end(), &PyTuple_GET_ITEM(saved.ptr(), 0),
               &PyTuple_GET_ITEM(saved.ptr(), 0) + PyTuple_GET_SIZE(saved.ptr()));
  back.resize(static_cast<size_t>(PyTuple_GET_SIZE(inputs.ptr())));
  auto hand_out = [&](nb::handle found, const std::vector<int>& flows) {
    for (size_t k = 0; k < flows.size(); ++k) back[static_cast<size_t>(flows[k])] = nb::object(found[k]);
    return true;
  };
  for (const Back& known : *p->backs) {
    if (known.arrived != arrived) continue;
    nb::object found = checked(run(as_program(known.program.ptr()), given.data(), given.size()));
    if (!found.is_none()) return hand_out(found, known.flows);
  }
  nb::list heads;
  for (const nb::object& g : gradients) heads.append(g ? g : nb::none());
  nb::tuple made = nb::cast<nb::tuple>(
      hang_if_finalizing([&] { return nb::object(nb::handle(p->call).attr("record_back")(inputs, heads, saved)); }));
  auto flows = nb::cast<std::vector<int>>(made[2]);
  if (nb::object(made[1]).is_none())
    p->no_back = true;
  else
    p->backs->insert(p->backs->begin(), Back{std::move(arrived), nb::object(made[1]), flows});
  if (p->backs->size() > kMostBacks) p->backs->pop_back();
  return hand_out(made[0], flows);
}

nb::object unfolded(NodeObject* node) {
  return hang_if_finalizing([&] {
    return nb::object(
        nb::handle(as_program(node->op)->call).attr("replay")(nb::borrow(node->attrs), nb::borrow(node->inputs)));
  });
}

void init_captured_programs(Module& m) {
  program_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  m.attr("Program") = nb::steal(reinterpret_cast<PyObject*>(program_type));
  m.def("capture", begin, nb::arg("inputs"), "From now on, operations that this thread issues are also recorded.");
  m.def("capture_end", end, nb::arg("inputs"), nb::arg("free"), nb::arg("results"), nb::arg("saved"),
        nb::arg("about").none(), nb::arg("graded"), nb::arg("leaves"), nb::arg("name"), nb::arg("apart"),
        "Ends recording: the program that makes `results`, and `saved` for the gradients of those `graded`. apart: its "
        "inputs are ready at different times.");
  m.def("as_base_array", as_base_array, "The array, or if it is a view of dense rows inside another one, a copy.");
  m.def("capture_paused", paused, nb::arg("function"), nb::sig("def capture_paused(function: Any) -> Any"),
        "The result of a function whose operations are not recorded.");
  m.def("capture_input", add_input, nb::arg("input"),
        "Makes an array that no operation has used yet a further input of the program, behind the others.");
  m.def("capture_drop", drop, "Ends recording, without a program.");
  m.def("capturing", [] { return capture != nullptr; });
  m.def(
      "capture_strict", [](bool strict) { return capture && std::exchange(capture->strict, strict); },
      nb::arg("strict"),
      "Sets whether a read of values raises while this thread captures; else there will be no program. Returns the "
      "former setting.");
  m.def("capture_first_read", first_read,
        "The first read of values, which has ended the capture, as (file, line); or None.");
  m.def("capture_maker", maker, nb::arg("a"),
        "The origin of an array while this thread captures: the number of an input, or the name of an op; else None.");
  m.def("tape_position", tape_position, "The number of the newest node.");
  m.def("capture_refuse", [](const char* why) {
    if (capture) capture->refuse(why);
  });
  m.def(
      "capture_refused", [] { return capture ? capture->refused() : std::string(); },
      "Why there can be no program; empty if there can.");
}

}  // namespace forerun
