// The sources of a ufunc's loops: NumPy's tables, those of ml_dtypes, and other libraries'.
#include "python/dispatch/loops/loop_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#include "base/dtype.h"
#include "base/error.h"
#include "cpu/loops/cast.h"
#include "cpu/loops/exponential.h"
#include "cpu/loops/formulas.h"
#include "cpu/loops/limits.h"
#include "cpu/loops/loop.h"
#include "cpu/loops/simd_arithmetic.h"
#include "python/bindings.h"
#include "python/dispatch/ufunc_type.h"
#include "python/numpy_api.h"
#include "python/object/conversion/dtypes.h"
#include "python/runtime/errors/task_errors.h"
#include "python/runtime/interpreter/gil.h"

namespace forerun {

namespace {

// --- integer powers: NumPy's loop reports a negative exponent through the interpreter, which a worker does not have
// ----------

struct CheckedPower {
  Loop inner;
  size_t size;
};

void checked_power(char** args, const intptr_t* n, const intptr_t* steps, void* data) {
  auto* power = static_cast<CheckedPower*>(data);
  for (intptr_t i = 0; i < *n; ++i) {
    // The sign bit of a little-endian integer is in its last byte.
    if (static_cast<signed char>(args[1][i * steps[1] + static_cast<intptr_t>(power->size) - 1]) < 0)
      throw Error(ErrorKind::value, "power: integers must not be raised to negative integer powers");
  }
  power->inner.function(args, n, steps, power->inner.data);
}

// --- loops of other libraries: they may acquire the interpreter lock, if only to report an error ---------------------

// A thread of the engine has no thread state in which an exception would be kept. While this object lives, it has one.
class KeptState {
 public:
  void have() {
    if (PyGILState_GetThisThreadState()) return;
    before_ = hang_if_finalizing([] { return PyGILState_Ensure(); });
    own_ = PyEval_SaveThread();
  }
  ~KeptState() {
    if (!own_ || !Py_IsInitialized()) return;
    hang_if_finalizing([&] {
      PyEval_RestoreThread(own_);
      PyGILState_Release(before_);
    });
  }

 private:
  PyThreadState* own_ = nullptr;  // null: this object has made no thread state
  PyGILState_STATE before_{};
};

bool exception_is_set() {
  PyThreadState* state = PyGILState_GetThisThreadState();  // belongs to this thread, so that no lock is needed
#if PY_VERSION_HEX >= 0x030c0000
  return state->current_exception;
#else
  return state->curexc_type;
#endif
}

void foreign(char** args, const intptr_t* n, const intptr_t* steps, void* data) {
  thread_local KeptState kept;
  kept.have();
  auto* inner = static_cast<Loop*>(data);
  inner->function(args, n, steps, inner->data);
  if (!exception_is_set()) return;
  Locked locked;
  hang_if_finalizing([] { throw taken_exception(); });
}

bool is_ufunc_of_numpy(PyUFuncObject* f) {
  PyObject* umath = PyImport_ImportModule("numpy");
  PyObject* known = umath ? PyObject_GetAttrString(umath, f->name) : nullptr;
  PyErr_Clear();
  bool is = known == reinterpret_cast<PyObject*>(f);
  Py_XDECREF(known);
  Py_XDECREF(umath);
  return is;
}

// Whether every code path of a loop gives the same bits for this dtype.
bool same_bits(const UfuncObject* u, DType t) {
  using Exact = UfuncFacts::Exact;
  const Exact exact = u->facts.exact;
  return !is_inexact(t) || exact == Exact::all_numbers || (exact == Exact::real_numbers && !is_complex(t));
}

// --- the tables ------------------------------------------------------------------------------------------------------

// Adds a loop of NumPy's, with its properties.
void add_loop(UfuncObject* u, const PyUFuncObject* f, Signature s) {
  s.loop.packed = !same_bits(u, s.types[0]) || u->facts.needs_packed;
  bool uniform = true;
  for (int k = 1; k < f->nargs; ++k) uniform = uniform && s.types[k] == s.types[0];
  if (uniform) s.loop = arithmetic_loop(u->facts.formula, s.types[0], s.loop);
  if (uniform && u->facts.formula == Formula::exp && s.types[0] == DType::f32) s.loop = exponential_loop(s.loop);
  if (s.loop.formula == Formula::none && has_formula(u->facts.formula, s.types, f->nargs))
    s.loop.formula = u->facts.formula;
  set_eighths(s.loop, u->facts.formula, s.types[0], u->facts.slow);
  s.loop.adds = u->facts.formula == Formula::add;
  if (u->facts.checks_exponents && is_signed(s.types[1])) {
    s.loop = Loop{checked_power, new CheckedPower{s.loop, item_size(s.types[1])}};
    s.loop.may_throw = true, s.loop.checked = Checked::exponents;
  }
  u->signatures->push_back(s);
}

// For a ufunc that is not NumPy's, only the facts of its op are known, whatever its name is.
void add_foreign_loop(UfuncObject* u, Signature s) {
  s.loop = Loop{foreign, new Loop{s.loop}};
  s.loop.packed = u->facts.exact != UfuncFacts::Exact::all_numbers;
  s.loop.may_throw = true;
  u->signatures->push_back(s);
}

// The dtypes of a loop; false if arrays cannot have one of them.
bool read_types(Signature& s, int n, auto typenum_of) {
  bool known = true;
  for (int k = 0; k < n && known; ++k) s.types[k] = dtype_of_typenum(typenum_of(k), &known);
  return known;
}

// The loops that ml_dtypes has added to NumPy's ufunc. They have one dtype, and need no interpreter lock.
void add_bfloat16_loops(UfuncObject* u) {
  if (std::exchange(u->has_bfloat16, true) || PyUnicode_Check(u->ufunc)) return;
  auto* f = reinterpret_cast<PyUFuncObject*>(u->ufunc);
  if (!f->userloops) return;
  auto* d = reinterpret_cast<PyArray_Descr*>(bfloat16());
  PyObject* key = PyLong_FromLong(d->type_num);
  PyObject* found = key ? PyDict_GetItem(f->userloops, key) : nullptr;  // borrowed
  Py_XDECREF(key);
  auto* loop = found ? static_cast<PyUFunc_Loop1d*>(PyCapsule_GetPointer(found, nullptr)) : nullptr;
  PyErr_Clear();
  for (; loop; loop = loop->next) {
    Signature s{};
    if (!read_types(s, f->nargs, [&](int k) { return loop->arg_types[k]; })) continue;
    s.loop = Loop{reinterpret_cast<LoopFunction>(loop->func), loop->data};
    add_loop(u, f, s);
  }
}

}  // namespace

const LineLoop* line_loop(PyObject* ufunc, DType t) {
  static std::map<std::pair<PyObject*, DType>, LineLoop> known;  // used with the interpreter lock
  const std::pair<PyObject*, DType> key{ufunc, t};
  if (auto at = known.find(key); at != known.end()) return &at->second;
  if (!PyObject_TypeCheck(ufunc, &PyUFunc_Type)) return nullptr;
  auto* f = reinterpret_cast<PyUFuncObject*>(ufunc);
  if (!f->core_enabled || f->nargs != 3 || f->core_num_dims[0] != 1 || f->core_num_dims[1] != 0 ||
      f->core_num_dims[2] != 1)
    return nullptr;
  for (int i = 0; i < f->ntypes; ++i) {
    Signature s{};
    if (!read_types(s, 3, [&](int k) { return f->types[i * 3 + k]; }) || s.types[0] != t) continue;
    Py_INCREF(ufunc);  // its loops must not be freed
    auto* inner =
        new Loop{reinterpret_cast<LoopFunction>(f->functions[i]), f->data ? const_cast<void*>(f->data[i]) : nullptr};
    return &(known[key] = LineLoop{f->name, Loop{foreign, inner}, s.types[1], s.types[2]});
  }
  return nullptr;
}

bool add_numpy_loops(UfuncObject* u, PyObject* ufunc) {
  auto* f = reinterpret_cast<PyUFuncObject*>(ufunc);
  bool of_numpy = is_ufunc_of_numpy(f);
  u->nin = f->nin, u->nout = f->nout;
  if (f->nargs > kMaxOperands || f->core_enabled) {
    PyErr_Format(PyExc_TypeError, "Ufunc: numpy ufunc must be element-wise with at most %d operands, got %s",
                 kMaxOperands, f->name);
    return false;
  }
  for (int i = 0; i < f->ntypes; ++i) {
    Signature s{};
    if (!read_types(s, f->nargs, [&](int k) { return f->types[i * f->nargs + k]; }) || !f->functions[i]) continue;
    s.loop = Loop{reinterpret_cast<LoopFunction>(f->functions[i]), f->data ? const_cast<void*>(f->data[i]) : nullptr};
    if (of_numpy)
      add_loop(u, f, s);
    else
      add_foreign_loop(u, s);
  }
  if (u->signatures->empty()) {
    PyErr_Format(PyExc_TypeError, "Ufunc: ufunc must have compiled loops for dtypes of arrays, got %s", f->name);
    return false;
  }
  PyObject* identity = PyObject_GetAttrString(ufunc, "identity");
  if (!identity) return false;
  if (identity != Py_None) u->has_identity = true, u->identity = PyFloat_AsDouble(identity);
  Py_DECREF(identity);
  return !PyErr_Occurred();
}

void list_same(UfuncObject* u) {
  std::fill(std::begin(u->same), std::end(u->same), nullptr);
  for (Signature& s : *u->signatures) {
    bool same = true;
    for (int k = 1; k < u->nin; ++k) same = same && s.types[k] == s.types[0];
    const Signature*& slot = u->same[static_cast<int>(s.types[0])];
    if (same && !slot) slot = &s;
  }
}

void add_select_loops(UfuncObject* u) {
  u->nin = 3, u->nout = 1;
  for (int t = 0; t < kDTypes; ++t) {
    DType d = static_cast<DType>(t);
    u->signatures->push_back(Signature{{DType::b1, d, d, d}, select_loop(d)});
  }
}

bool add_limiting_loops(UfuncObject* u, PyObject* limits) {
  const char* message;
  double low, high;
  int open_low, open_high, takes_nan, overflow;
  if (!PyArg_ParseTuple(limits, "sddpppp", &message, &low, &high, &open_low, &open_high, &takes_nan, &overflow))
    return false;
  u->nin = u->nout = 1;
  auto* kept = new Limits{message, low, high, open_low != 0, open_high != 0, takes_nan != 0, overflow != 0};
  for (int t = 0; t < kDTypes; ++t) {
    DType d = static_cast<DType>(t);
    if (!is_complex(d)) u->signatures->push_back(Signature{{d, d}, limiting_loop(d, kept)});
  }
  return true;
}

const Signature* same_loop(UfuncObject* u, DType t) {
  const Signature*& slot = u->same[static_cast<int>(t)];
  if (!slot && t == DType::bf16 && !u->has_bfloat16) add_bfloat16_loops(u), list_same(u);
  return slot;
}

}  // namespace forerun
