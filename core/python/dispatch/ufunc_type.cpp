#include "python/dispatch/ufunc_type.h"

#include <structmember.h>

#include <cstddef>
#include <cstring>
#include <deque>

#include "base/dtype.h"
#include "cpu/loops/formulas.h"
#include "python/bindings.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/dispatch/ufunc_call.h"
#include "python/front_end.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/errors/errors.h"

namespace forerun {

PyTypeObject* ufunc_type = nullptr;

namespace {

// --- construction ----------------------------------------------------------------------------------------------------

bool is_text(PyObject* o, const char* text) {
  return PyUnicode_Check(o) && PyUnicode_CompareWithASCIIString(o, text) == 0;
}

[[noreturn]] void refuse(const char* what, const char* wanted, PyObject* got) {
  PyErr_Format(PyExc_ValueError, "elementwise: %s must be %s, got %R", what, wanted, got);
  throw PythonError{};
}

UfuncFacts::Exact exactness(PyObject* o) {
  using Exact = UfuncFacts::Exact;
  if (PyBool_Check(o)) return o == Py_True ? Exact::all_numbers : Exact::none;
  if (!is_text(o, "real")) refuse("exact", "True, False or \"real\"", o);
  return Exact::real_numbers;
}

UfuncFacts::Neutral neutral_element(PyObject* o) {
  using Neutral = UfuncFacts::Neutral;
  if (o == Py_None) return Neutral::none;
  if (PyLong_CheckExact(o) && PyLong_AsLong(o) == 0) return Neutral::zero;
  if (PyLong_CheckExact(o) && PyLong_AsLong(o) == 1) return Neutral::one;
  PyErr_Clear();  // for a number that is too large
  if (is_text(o, "lowest")) return Neutral::lowest;
  if (is_text(o, "highest")) return Neutral::highest;
  refuse("neutral", "0, 1, \"lowest\", \"highest\" or None", o);
}

Formula formula_of(PyObject* o) {
  if (o == Py_None) return Formula::none;
  const char* text = PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : "";
  if (!text) throw PythonError{};
  const Formula found = formula_named(text);
  if (found == Formula::none || found == Formula::count) refuse("formula", "the name of a formula or None", o);
  return found;
}

DType wide_float(PyObject* o) {
  const DType t = parse_dtype("elementwise", o);
  if (!is_real_float(t)) refuse("accumulate_in", "a real floating dtype", o);
  return t;
}

int init(PyObject* self, PyObject* args, PyObject* kwargs) {
  auto* u = reinterpret_cast<UfuncObject*>(self);
  static const char* names[] = {
      "ufunc",           "name",      "grads", "save", "exact",   "neutral", "accumulate_in",    "bool_ok",
      "widens_integers", "reduction", "scan",  "slow", "formula", "packed",  "checks_exponents", nullptr};
  PyObject *source, *py_name, *grads = nullptr, *exact = Py_False, *neutral = Py_None, *accumulate_in = Py_None;
  PyObject* formula = Py_None;
  unsigned save = 0;
  int bool_ok = 1, widens = 0, slow = 0, packed = 0, checks_exponents = 0;
  const char *reduction = nullptr, *scan = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OU|OI$OOOppzzpOpp", const_cast<char**>(names), &source, &py_name,
                                   &grads, &save, &exact, &neutral, &accumulate_in, &bool_ok, &widens, &reduction,
                                   &scan, &slow, &formula, &packed, &checks_exponents))
    return -1;
  const bool read = guarded([&]() -> PyObject* {
    u->facts = {.formula = formula_of(formula),
                .exact = exactness(exact),
                .neutral = neutral_element(neutral),
                .takes_bools = bool_ok != 0,
                .widens_integers = widens != 0,
                .needs_packed = packed != 0,
                .checks_exponents = checks_exponents != 0,
                .slow = slow != 0,
                .accumulates = accumulate_in != Py_None};
    if (u->facts.accumulates) u->facts.accumulate_in = wide_float(accumulate_in);
    u->facts.reduction = reduction ? intern(reduction) : nullptr;
    u->facts.scan = scan ? intern(scan) : nullptr;
    return Py_None;
  });
  if (!read) return -1;
  delete u->signatures;
  u->signatures = new std::deque<Signature>;
  u->has_identity = u->has_bfloat16 = false;
  if (PyUnicode_Check(source)) {
    add_select_loops(u);
  } else if (PyTuple_Check(source)) {
    if (!add_limiting_loops(u, source)) return -1;
  } else if (Py_IS_TYPE(source, &PyUFunc_Type)) {
    if (!add_numpy_loops(u, source)) return -1;
  } else {
    PyErr_Format(PyExc_TypeError, "Ufunc: source must be a numpy ufunc, \"select\" or limits, got %R", source);
    return -1;
  }
  Py_XSETREF(u->ufunc, Py_NewRef(source));
  Py_XSETREF(u->grads, grads ? Py_NewRef(grads) : Py_NewRef(Py_None));
  Py_XSETREF(u->py_name, Py_NewRef(py_name));
  u->name = strdup(PyUnicode_AsUTF8(py_name));
  u->save = save;
  list_same(u);
  return 0;
}

// Handles keywords that this type does not know: a Python method, if there is one, interprets them.
PyObject* call_with_options(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  PyObject* method = PyObject_GetAttrString(self, "with_options");
  if (!method) {
    PyErr_Clear();
    return PyErr_Format(PyExc_TypeError, "%s: keywords must be out or dtype, got %R",
                        reinterpret_cast<UfuncObject*>(self)->name, kwnames);
  }
  PyObject* result = PyObject_Vectorcall(method, args, static_cast<size_t>(n), kwnames);
  Py_DECREF(method);
  return result;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  auto* u = reinterpret_cast<UfuncObject*>(self);
  Py_ssize_t n = PyVectorcall_NARGS(nargsf);
  PyObject *out = nullptr, *dtype = nullptr, *loop = nullptr;
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, i);
    bool more = PyUnicode_CompareWithASCIIString(key, "out") == 0 && args[n + i] != Py_None && !is_array(args[n + i]);
    if (more) return call_with_options(self, args, n, kwnames);
    if (PyUnicode_CompareWithASCIIString(key, "out") == 0) {
      out = args[n + i];
    } else if (PyUnicode_CompareWithASCIIString(key, "dtype") == 0) {
      dtype = args[n + i];
    } else if (PyUnicode_CompareWithASCIIString(key, "loop") == 0) {
      loop = args[n + i];
    } else {
      PyObject* done = guarded([&] {
        InFrontEnd here;
        return call_masked(u, args, n, kwnames);
      });
      return done || PyErr_Occurred() ? done : call_with_options(self, args, n, kwnames);
    }
  }
  if (n == u->nin + 1 && !out) out = args[--n];
  InFrontEnd here;
  return call_ufunc(u, args, n, out, loop ? loop : dtype);
}

PyObject* new_ufunc(PyTypeObject* type, PyObject*, PyObject*) {
  lend_vectorcall(type);
  PyObject* self = type->tp_alloc(type, 0);
  if (self) reinterpret_cast<UfuncObject*>(self)->vectorcall = vectorcall;
  return self;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  auto* u = reinterpret_cast<UfuncObject*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(u->ufunc);
  Py_VISIT(u->grads);
  return 0;
}

int clear(PyObject* self) {
  auto* u = reinterpret_cast<UfuncObject*>(self);
  Py_CLEAR(u->ufunc);
  Py_CLEAR(u->grads);
  return 0;
}

void dealloc(PyObject* self) {
  auto* u = reinterpret_cast<UfuncObject*>(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  Py_CLEAR(u->py_name);
  // The loops are not freed: ops in flight may use them.
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"ufunc", T_OBJECT, offsetof(UfuncObject, ufunc), READONLY, "The numpy ufunc whose loops this uses."},
    {"name", T_OBJECT, offsetof(UfuncObject, py_name), READONLY, "The op's name."},
    {"grads", T_OBJECT, offsetof(UfuncObject, grads), READONLY,
     "Per input a gradient function and its arguments, or None; None: not recorded."},
    {"nin", T_INT, offsetof(UfuncObject, nin), READONLY, "Number of inputs."},
    {"nout", T_INT, offsetof(UfuncObject, nout), READONLY, "Number of outputs."},
    {"save", T_UINT, offsetof(UfuncObject, save), READONLY,
     "Bit i: gradients need the value of input i; bit 7: of the outputs."},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(UfuncObject, vectorcall), READONLY, nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Ufunc(ufunc, name, grads=None, save=0, **facts): issues element-wise ops that run "
                                  "the loops of a numpy ufunc. "
                                  "The facts are those of forerun.extend.elementwise.")},
    {Py_tp_init, reinterpret_cast<void*>(exclusive<init>)},
    {Py_tp_new, reinterpret_cast<void*>(new_ufunc)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(exclusive<clear>)},
    {Py_tp_dealloc, reinterpret_cast<void*>(exclusive<dealloc>)},
    {Py_tp_members, members},
    {},
};
PyType_Spec spec = {"forerun._core.Ufunc", sizeof(UfuncObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

PyTypeObject* make_ufunc_type() { return ufunc_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

UfuncObject* get_ufunc(const char* op, PyObject* o) {
  if (!PyObject_TypeCheck(o, ufunc_type)) {
    PyErr_Format(PyExc_TypeError, "%s: op must be a Ufunc, got %s", op, Py_TYPE(o)->tp_name);
    throw PythonError{};
  }
  return reinterpret_cast<UfuncObject*>(o);
}

}  // namespace forerun
