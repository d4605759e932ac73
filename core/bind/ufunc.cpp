#include "bind/ufunc.h"

#include <structmember.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bind/at_once.h"
#include "bind/direct.h"
#include "bind/fallback.h"
#include "bind/gil.h"
#include "bind/host.h"
#include "bind/numpy.h"
#include "bind/scalar.h"
#include "bind/tape.h"
#include "kernels/elementwise.h"
#include "kernels/masked.h"

namespace forerun {

PyTypeObject* ufunc_type = nullptr;

namespace {

uint8_t promotion[kDTypes][kDTypes];

// --- making one ------------------------------------------------------------------------------------------------------

int init(PyObject* self, PyObject* args, PyObject* kwargs) {
  auto* u = reinterpret_cast<UfuncObject*>(self);
  static const char* names[] = {"ufunc", "name", "grads", "save", nullptr};
  PyObject *source, *py_name, *grads = nullptr;
  unsigned save = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OU|OI", const_cast<char**>(names), &source, &py_name, &grads, &save))
    return -1;
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

// --- calling ---------------------------------------------------------------------------------------------------------

struct Input {
  const Array* array = nullptr;  // null: a Python scalar
  PyObject* object = nullptr;
  int weak = -1;  // of a Python scalar: bool 0, int 1, float 2, complex 3
};

int weak_rank(PyObject* o) {
  if (PyFloat_CheckExact(o)) return 2;
  if (PyLong_CheckExact(o)) return 1;
  if (PyBool_Check(o)) return 0;
  if (PyComplex_CheckExact(o)) return 3;
  return -1;
}

DType complex_of(DType t) {
  return t == DType::f64 || t == DType::c128 || (!is_inexact(t) && default_float == DType::f64) ? DType::c128
                                                                                                : DType::c64;
}

// The dtype that a Python scalar of this rank makes of a common dtype of arrays (`known`: there are arrays).
DType with_weak(DType common, bool known, int weak) {
  if (!known) {
    const DType alone[] = {DType::b1, DType::i64, default_float,
                           default_float == DType::f64 ? DType::c128 : DType::c64};
    return alone[weak];
  }
  if (weak == 3) return is_complex(common) ? common : complex_of(common);
  if (weak == 2) return is_inexact(common) ? common : default_float;
  if (weak == 1) return common == DType::b1 ? DType::i64 : common;
  return common;
}

// Whether a loop that takes `to` may be used for `from`.
bool loop_takes(DType from, DType to) {
  if (from == to) return true;
  if (!is_inexact(from) && !numpy_rules)
    return is_inexact(to) ? to == default_float || to == DType::f64 : promote(from, to) == to;
  return promote(from, to) == to;
}

// The same for one operand of a ufunc whose loops take several dtypes, as ldexp's do: there a Python integer is any
// integer.
bool operand_takes(const Input& in, DType common, DType to) {
  if (in.array) return loop_takes(in.array->layout.dtype, to);
  return (in.weak == 1 && is_integer(to)) || loop_takes(in.weak == 0 ? DType::b1 : common, to);
}

const Signature* find_loop(UfuncObject* u, DType common, const Input* in) {
  if (const Signature* s = same_loop(u, common)) {
    // Integers give the default float where NumPy would give float64.
    bool widens = !is_inexact(common) && s->types[u->nin] == DType::f64 && default_float != DType::f64;
    if (!widens) return s;
    if (const Signature* f = u->same[static_cast<int>(default_float)]) return f;
    return s;
  }
  bool uniform = false;  // loops of one dtype for all inputs exist: the common dtype decides
  for (const Signature* s : u->same) uniform = uniform || s;
  bool has_default = u->same[static_cast<int>(default_float)];
  bool small_to_default =
      !numpy_rules || std::strcmp(u->name, "divide") == 0;  // NumPy's division is the one that widens small integers
  for (const Signature& s : *u->signatures) {
    bool takes = true;
    for (int k = 0; takes && k < u->nin; ++k)
      takes = uniform ? loop_takes(common, s.types[k]) : operand_takes(in[k], common, s.types[k]);
    if (uniform && small_to_default && !is_inexact(common) && is_inexact(s.types[0]) && has_default &&
        s.types[0] != default_float)
      takes = false;
    if (takes) return &s;
  }
  return nullptr;
}

// Where NumPy does not take bools for small integers.
bool refuses_bool(const char* op) {
  for (const char* name : {"subtract", "negative", "positive", "sign", "gcd", "lcm"})
    if (std::strcmp(op, name) == 0) return true;
  return false;
}

}  // namespace

const Signature* named_loop(UfuncObject* u, PyObject* dtypes) {
  DType types[kMaxOperands];
  int n = u->nin + u->nout;
  for (int k = 0; k < n && PyTuple_GET_SIZE(dtypes) == n; ++k)
    types[k] = parse_dtype(u->name, PyTuple_GET_ITEM(dtypes, k));
  for (const Signature& s : *u->signatures)
    if (PyTuple_GET_SIZE(dtypes) == n && std::equal(types, types + n, s.types)) return &s;
  PyErr_Format(PyExc_TypeError, "%s: signature must be that of a loop, got %R", u->name, dtypes);
  throw PythonError{};
}

namespace {

// NumPy's rule "same_kind": bool, unsigned and signed integers, floats, complex numbers, each may become what follows.
bool fits_kind(DType from, DType to) {
  auto kind = [](DType d) {
    return d == DType::b1 ? 0 : is_signed(d) ? 2 : is_integer(d) ? 1 : is_real_float(d) ? 3 : 4;
  };
  return kind(from) <= kind(to);
}

const Signature* resolve(UfuncObject* u, const Input* in, PyObject* dtype) {
  if (dtype && PyTuple_Check(dtype)) return named_loop(u, dtype);
  bool select = u->nin == 3 && u->signatures->front().types[0] == DType::b1 && u->same[1] == nullptr && u->ufunc &&
                PyUnicode_Check(u->ufunc);
  bool known = false;
  DType common = DType::b1;
  for (int i = select; i < u->nin; ++i)
    if (in[i].array)
      common = known ? promote(common, in[i].array->layout.dtype) : in[i].array->layout.dtype, known = true;
  int weak = -1;
  for (int i = select; i < u->nin; ++i) weak = std::max(weak, in[i].weak);
  if (weak >= 0) common = with_weak(common, known, weak);
  if (dtype && dtype != Py_None) {
    common = parse_dtype(u->name, dtype);
    for (int i = select; i < u->nin; ++i)
      if (in[i].array && !fits_kind(in[i].array->layout.dtype, common))
        throw Error(ErrorKind::type, std::string(u->name) + ": operands must fit dtype's kind " + name(common) +
                                         ", got " + name(in[i].array->layout.dtype));
  }
  if (select) return &(*u->signatures)[static_cast<int>(common)];
  const Signature* found = common == DType::b1 && refuses_bool(u->name) ? nullptr : find_loop(u, common, in);
  if (!found) throw Error(ErrorKind::type, std::string(u->name) + ": no loop for dtype, got " + name(common));
  return found;
}

struct Call {
  UfuncObject* u;
  Input in[kMaxOperands];
  Array own[kMaxOperands];  // operands that were not arrays
  int device = 0;
  bool dense = true;  // all arrays are dense and of one shape
  Dims shape;
};

// Reads the operands; finds out shape and device.
void gather_inputs(Call& c, PyObject* const* inputs) {
  UfuncObject* u = c.u;
  const ArrayObject* first = nullptr;
  for (int i = 0; i < u->nin; ++i) {
    if (!is_array(inputs[i])) continue;
    const ArrayObject* a = as_array(inputs[i]);
    if (!a->array.storage()) throw Error(ErrorKind::runtime, std::string(u->name) + ": the array's value was not kept");
    if (first && first->device != a->device && !exchanging)
      throw Error(ErrorKind::value, std::string(u->name) + ": arrays must be on one device, got cpu(" +
                                        std::to_string(first->device) + ") and cpu(" + std::to_string(a->device) + ")");
    if (!first) first = a, c.device = a->device;
  }
  bool shaped = false;
  for (int i = 0; i < u->nin; ++i) {
    Input& in = c.in[i];
    in.object = inputs[i];
    if (is_array(inputs[i])) {
      in.array = &as_array(inputs[i])->array;
    } else if ((in.weak = weak_rank(inputs[i])) < 0) {
      c.own[i] = from_object(u->name, inputs[i], c.device);
      in.array = &c.own[i];
    } else {
      continue;
    }
    const Layout& layout = in.array->layout;
    if (!shaped) {
      c.shape = layout.shape, shaped = true;
      c.dense = layout.contiguous();
    } else if (layout.shape == c.shape) {
      c.dense = c.dense && layout.contiguous();
    } else {
      c.shape = broadcast(u->name, c.shape, layout.shape);
      c.dense = false;
    }
  }
}

Array check_out(Call& c, PyObject* out, DType t) {
  const Array& o = writable(c.u->name, get_writable(c.u->name, out));
  if (!(o.layout.shape == c.shape))
    throw Error(ErrorKind::value, std::string(c.u->name) + ": out must have shape " + to_string(c.shape) + ", got " +
                                      to_string(o.layout.shape));
  if (!fits_kind(t, o.layout.dtype))
    throw Error(ErrorKind::type, std::string(c.u->name) + ": result of dtype " + name(t) +
                                     " must fit out's kind, got " + name(o.layout.dtype));
  if (as_array(out)->device != c.device)
    throw Error(ErrorKind::value, std::string(c.u->name) + ": out must be on the inputs' device");
  return o;
}

struct OpHolder {
  Op* op = Engine::get().make_op();
  ~OpHolder() {
    if (op) Engine::get().discard(op);
  }
  Op* release() { return std::exchange(op, nullptr); }
};

constexpr int64_t kLoopAtOnce = 2000;  // elements of all operands

// The loop over dense operands, run here and now, if that may be; false: it has not been. `to` may be an array that
// stands among the inputs, element for element.
inline bool loop_at_once(const Signature& s, const Operand* inputs, int n_in, const Array& to,
                         char* (*room)(const Array&)) {
  char* args[kMaxOperands];
  intptr_t steps[kMaxOperands], n = to.layout.size;
  for (int i = 0; i < n_in; ++i) {
    const Array* in = inputs[i].array;
    const char* from = in ? values_at_once(*in) : reinterpret_cast<const char*>(inputs[i].scalar.bytes);
    if (!from) return false;
    args[i] = const_cast<char*>(from);
    steps[i] = in ? static_cast<intptr_t>(item_size(s.types[i])) : 0;
  }
  if (!(args[n_in] = room(to))) return false;
  steps[n_in] = static_cast<intptr_t>(item_size(s.types[n_in]));
  s.loop.function(args, &n, steps, s.loop.data);
  written_at_once(to);
  return true;
}

bool fits_loop_at_once(const Signature& s, int64_t n, int operands) {
  return n * operands <= kLoopAtOnce && !s.loop.may_throw && may_work_at_once();
}

// The same into an array that is there.
bool in_place_at_once(const Signature& s, const Operand* inputs, int n_in, const Array& to) {
  if (to.layout.dtype != s.types[n_in] || !to.layout.contiguous()) return false;
  for (int i = 0; i < n_in; ++i)
    if (inputs[i].array && inputs[i].array->storage() == to.storage() && !inputs[i].array->same_elements(to))
      return false;
  return loop_at_once(s, inputs, n_in, to, [](const Array& there) { return room_at_once(there); });
}

char* fresh_room(const Array& made) {
  if (!may_take_at_once(made) || !made.storage()->take()) return nullptr;
  made.storage()->materialized = true;
  return made.storage()->data();
}

PyObject* perform(UfuncObject* u, PyObject* const* inputs, PyObject* out, PyObject* dtype) {
  Call c{u};
  gather_inputs(c, inputs);
  const Signature* s = resolve(u, c.in, dtype);
  Operand operands[kMaxOperands];
  bool typed = true;  // every array has the loop's dtype
  for (int i = 0; i < u->nin; ++i) {
    operands[i].array = c.in[i].array;
    if (c.in[i].array)
      typed = typed && c.in[i].array->layout.dtype == s->types[i];
    else if (!put_scalar(u->name, inputs[i], s->types[i], operands[i].scalar.bytes))
      throw PythonError{};
  }
  bool given = out && out != Py_None;
  if (given && u->nout != 1)
    throw Error(ErrorKind::not_implemented, std::string(u->name) + ": out must be None for several outputs");
  bool taped = false;
  for (int i = 0; i < u->nin; ++i) taped = taped || on_tape(inputs[i]);
  if (given && recording && (taped || as_array(out)->node))
    throw Error(ErrorKind::runtime,
                std::string(u->name) + ": an array on the tape must not be written in place while recording");
  PyObject* results[kMaxOperands] = {};
  Array made[kMaxOperands];
  const Array* outputs[kMaxOperands];
  for (int i = 0; i < u->nout; ++i) {
    made[i] =
        given ? check_out(c, out, s->types[u->nin]) : Array::make(s->types[u->nin + i], c.shape, budget_of(c.device));
    outputs[i] = &made[i];
  }
  if (c.dense && typed && given && fits_loop_at_once(*s, made[0].layout.size, u->nin + 1) &&
      in_place_at_once(*s, operands, u->nin, made[0]))
    return Py_NewRef(out);
  OpHolder holder;
  if (c.dense && typed && !given && u->nout == 1)
    build_elementwise_dense(*holder.op, u->name, s->loop, s->types, operands, u->nin, made[0]);
  else
    build_elementwise(*holder.op, u->name, s->loop, s->types, operands, u->nin, outputs, u->nout);
  issue(holder.release(), c.device);
  for (int i = 0; i < u->nout; ++i)
    if (!(results[i] = given ? Py_NewRef(out) : wrap_result(std::move(made[i])))) throw PythonError{};
  if (taped && (tracing || u->grads != Py_None) &&
      !record(reinterpret_cast<PyObject*>(u), inputs, u->nin, results, u->nout, nullptr, u->save))
    throw PythonError{};
  if (u->nout == 1) return results[0];
  PyObject* tuple = PyTuple_New(u->nout);
  for (int i = 0; i < u->nout; ++i) PyTuple_SET_ITEM(tuple, i, results[i]);
  return tuple;
}

// Whether an operand is one value beside an array of dtype `t`, which does not change it: an array without axes whose
// value is there, or a scalar of NumPy's. The value in that dtype.
bool constant(PyObject* o, DType t, unsigned char* bytes) {
  alignas(16) char value[16];
  const char* from = value;
  DType own;
  if (is_array(o)) {
    const Array& a = as_array(o)->array;
    if (!a.storage() || a.layout.ndim() || on_tape(o)) return false;
    if (!may_work_at_once() || !(from = values_at_once(a))) return false;
    own = a.layout.dtype;
  } else {
    if (!PyArray_IsScalar(o, Number) && !PyArray_IsScalar(o, Bool)) return false;
    PyArray_Descr* d = PyArray_DescrFromScalar(o);
    bool known = false;
    own = d ? dtype_of_typenum(d->type_num, &known) : t;
    Py_XDECREF(reinterpret_cast<PyObject*>(d));
    if (!known) return PyErr_Clear(), false;
    PyArray_ScalarAsCtype(o, value);
  }
  if (promote(t, own) != t) return false;
  if (own == t) return std::memcpy(bytes, from, item_size(t)), true;
  char* args[2] = {const_cast<char*>(from), reinterpret_cast<char*>(bytes)};
  intptr_t n = 1, steps[2] = {0, 0};
  Loop cast = cast_loop(own, t);
  cast.function(args, &n, steps, cast.data);
  return true;
}

// The same for any number, which takes the array's dtype. An exception is set if it is out of its range.
bool number(const UfuncObject* u, PyObject* o, DType t, unsigned char* bytes) {
  const int weak = weak_rank(o);
  if (weak < 0) return constant(o, t, bytes);
  const bool keeps = weak == 1 ? t != DType::b1 : weak == 2 && is_inexact(t);
  return keeps && put_scalar(u->name, o, t, bytes);
}

// The most frequent calls, with nothing to resolve: dense arrays of one shape and dtype, or one of them and a number,
// into a new array or, at once, into `out`. Null without an exception: not such a call.
PyObject* perform_plain(UfuncObject* u, PyObject* const* inputs, PyObject* out) {
  const ArrayObject* a = nullptr;
  bool taped = false;
  Operand operands[3];
  for (int i = 0; i < u->nin; ++i) {
    if (!is_array(inputs[i])) continue;
    const ArrayObject* other = as_array(inputs[i]);
    const Layout& layout = other->array.layout;
    if (!other->array.storage() || !layout.contiguous()) return nullptr;
    taped = taped || (other->node && recording);
    if (!a) {
      a = other;
    } else if (a != other) {
      const Layout& first = a->array.layout;
      if (a->device != other->device) return nullptr;
      if (first.dtype != layout.dtype || !(first.shape == layout.shape)) {
        if (first.ndim() && layout.ndim()) return nullptr;
        if (layout.ndim())
          operands[0].array = nullptr, a = other;  // the first one is a number
        else
          continue;
      }
    }
    operands[i].array = &other->array;
  }
  if (!a) return nullptr;
  const Layout& layout = a->array.layout;
  DType in = layout.dtype;
  const Signature* s = u->same[static_cast<int>(in)];
  if (!s || (!is_inexact(in) && is_inexact(s->types[u->nin]))) return nullptr;
  for (int i = 0; i < u->nin; ++i) {
    if (operands[i].array) continue;
    if (number(u, inputs[i], in, operands[i].scalar.bytes)) continue;
    return PyErr_Occurred() ? throw PythonError{} : nullptr;
  }
  DType t = s->types[u->nin];
  if (out) {
    const Array* to = Py_TYPE(out) == array_type && !on_tape(out) && !taped && as_array(out)->device == a->device
                          ? &as_array(out)->array
                          : nullptr;
    bool fits =
        to && to->storage() && to->layout.shape == layout.shape && to->layout.dtype == t && !to->layout.read_only;
    return fits && fits_loop_at_once(*s, layout.size, u->nin + 1) && in_place_at_once(*s, operands, u->nin, *to)
               ? Py_NewRef(out)
               : nullptr;
  }
  Budget* budget = budget_of(a->device);
  Array made = layout.ndim() == 0              ? Array::make_scalar(t, budget)
               : item_size(t) == item_size(in) ? Array::make_like(layout, t, budget)
                                               : Array::make(t, layout.shape, budget);
  if (!fits_loop_at_once(*s, layout.size, u->nin + 1) || !loop_at_once(*s, operands, u->nin, made, fresh_room)) {
    OpHolder holder;
    build_elementwise_dense(*holder.op, u->name, s->loop, s->types, operands, u->nin, made);
    issue(holder.release(), a->device);
  }
  PyObject* result = wrap_result(std::move(made));
  if (!result) throw PythonError{};
  if (taped && (tracing || u->grads != Py_None) &&
      !record(reinterpret_cast<PyObject*>(u), inputs, u->nin, &result, 1, nullptr, u->save))
    throw PythonError{};
  return result;
}

// Keywords that are not for this: a method in Python, if there is one, knows what they mean.
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

// Whether a number of Python's becomes one of dtype t without overflow.
bool small_number(PyObject* o, DType t) {
  constexpr double kMost = 65504;  // the largest that float16 holds
  if (PyFloat_CheckExact(o)) return t == DType::f64 || t == DType::c128 || std::abs(PyFloat_AS_DOUBLE(o)) <= kMost;
  int beyond = 0;
  long long n = PyLong_CheckExact(o) ? PyLong_AsLongLongAndOverflow(o, &beyond) : 0;
  return PyLong_CheckExact(o) && !beyond && (is_integer(t) || std::abs(static_cast<double>(n)) <= kMost);
}

// f(x, y, out=z, where=mask) for arrays of one shape and dtype, or one of them and a number. Null without an exception
// set: something else.
PyObject* perform_masked(UfuncObject* u, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  PyObject *out = nullptr, *where = nullptr;
  if (n != u->nin || u->nin > 2 || u->nout != 1 || tracing || PyTuple_GET_SIZE(kwnames) != 2) return nullptr;
  for (Py_ssize_t i = 0; i < 2; ++i) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, i);
    if (PyUnicode_CompareWithASCIIString(key, "out") == 0) out = args[n + i];
    if (PyUnicode_CompareWithASCIIString(key, "where") == 0) where = args[n + i];
  }
  const Array *to = plain_array(out), *mask = to ? plain_array(where) : nullptr;
  if (!mask || mask->layout.dtype != DType::b1 || !(mask->layout.shape == to->layout.shape) || !to->writable() ||
      as_array(where)->device != as_array(out)->device)
    return nullptr;
  Operand operands[2];
  DType t = DType::b1;
  bool known = false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    const Array* in = operands[i].array = plain_array(args[i]);
    if (!in) continue;
    if (!(in->layout.shape == to->layout.shape) || (known && in->layout.dtype != t) ||
        as_array(args[i])->device != as_array(out)->device)
      return nullptr;
    t = in->layout.dtype, known = true;
  }
  const Signature* s = known ? u->same[static_cast<int>(t)] : nullptr;
  if (!s || s->types[u->nin] != to->layout.dtype || (!is_inexact(t) && is_inexact(s->types[u->nin]))) return nullptr;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (operands[i].array) continue;
    const bool fits =
        (weak_rank(args[i]) < 0 || small_number(args[i], t)) && number(u, args[i], t, operands[i].scalar.bytes);
    if (!fits) return PyErr_Clear(), nullptr;
  }
  OpHolder holder;
  build_masked(*holder.op, u->name, s->loop, s->types, operands, u->nin, &to, 1, *mask);
  issue(holder.release(), as_array(out)->device);
  return Py_NewRef(out);
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
      PyObject* done = guarded([&] { return perform_masked(u, args, n, kwnames); });
      return done || PyErr_Occurred() ? done : call_with_options(self, args, n, kwnames);
    }
  }
  if (n == u->nin + 1 && !out) out = args[--n];
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
  // The loops stay: ops that are under way may use them.
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"ufunc", T_OBJECT, offsetof(UfuncObject, ufunc), READONLY, "The numpy ufunc whose loops this uses."},
    {"name", T_OBJECT, offsetof(UfuncObject, py_name), READONLY, "The op's name."},
    {"grads", T_OBJECT, offsetof(UfuncObject, grads), READONLY,
     "Per input a gradient function and what it is called with, or None; None: not recorded."},
    {"nin", T_INT, offsetof(UfuncObject, nin), READONLY, "Number of inputs."},
    {"nout", T_INT, offsetof(UfuncObject, nout), READONLY, "Number of outputs."},
    {"save", T_UINT, offsetof(UfuncObject, save), READONLY,
     "Bit i: gradients need the value of input i; bit 7: of the outputs."},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(UfuncObject, vectorcall), READONLY, nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char*>(
         "Ufunc(ufunc, name, grads=None, save=0): issues element-wise ops that run the loops of a numpy ufunc.")},
    {Py_tp_init, reinterpret_cast<void*>(init)},
    {Py_tp_new, reinterpret_cast<void*>(new_ufunc)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_members, members},
    {},
};
PyType_Spec spec = {"forerun._core.Ufunc", sizeof(UfuncObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

DType promote(DType a, DType b) { return static_cast<DType>(promotion[static_cast<int>(a)][static_cast<int>(b)]); }
void set_promotion(int a, int b, int result) { promotion[a][b] = static_cast<uint8_t>(result); }

PyTypeObject* make_ufunc_type() { return ufunc_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

// What to do about a Python integer that does not fit into the dtype: comparisons have a method for it, which returns
// NotImplemented where there is nothing to be done. Called with the OverflowError set.
static PyObject* call_beyond(UfuncObject* u, PyObject* const* inputs, PyObject* out) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  auto* self = reinterpret_cast<PyObject*>(u);
  PyObject* result = Py_NewRef(Py_NotImplemented);
  if (PyObject_HasAttrString(self, "beyond"))
    Py_SETREF(result, till_the_end([&] {
                return PyObject_CallMethod(self, "beyond", "OOO", inputs[0], inputs[1], out ? out : Py_None);
              }));
  if (result != Py_NotImplemented) {
    Py_DECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return result;
  }
  Py_DECREF(result);
  PyErr_Restore(type, value, trace);
  return nullptr;
}

UfuncObject* get_ufunc(const char* op, PyObject* o) {
  if (!PyObject_TypeCheck(o, ufunc_type)) {
    PyErr_Format(PyExc_TypeError, "%s: op must be a Ufunc, got %s", op, Py_TYPE(o)->tp_name);
    throw PythonError{};
  }
  return reinterpret_cast<UfuncObject*>(o);
}

PyObject* call_ufunc(UfuncObject* u, PyObject* const* inputs, Py_ssize_t n, PyObject* out, PyObject* dtype) {
  if (n != u->nin) {
    PyErr_Format(PyExc_TypeError, "%s: takes %d operands, got %zd", u->name, u->nin, n);
    return call_fallback(reinterpret_cast<PyObject*>(u), inputs, n, out, dtype);
  }
  if (numpy_rules && !is_array(inputs[0]) && are_numpys(inputs, n) && (!out || out == Py_None) && !dtype &&
      Py_IS_TYPE(u->ufunc, &PyUFunc_Type))
    return PyObject_Vectorcall(u->ufunc, inputs, static_cast<size_t>(n), nullptr);
  PyObject* result = guarded([&]() -> PyObject* {
    if (!dtype && u->nin <= 2 && u->nout == 1)
      if (PyObject* result = perform_plain(u, inputs, out == Py_None ? nullptr : out)) return result;
    return perform(u, inputs, out, dtype);
  });
  if (!result && u->nin == 2 && PyErr_ExceptionMatches(PyExc_OverflowError)) result = call_beyond(u, inputs, out);
  if (!result) [[unlikely]]
    result = call_fallback(reinterpret_cast<PyObject*>(u), inputs, n, out, dtype);
  return result;
}

}  // namespace forerun
