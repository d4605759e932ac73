#include "python/dispatch/ufunc_call.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/elementwise/elementwise.h"
#include "cpu/kernels/elementwise/masked_write.h"
#include "cpu/kernels/snapshot.h"
#include "cpu/loops/cast.h"
#include "cpu/loops/loop.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/dispatch/fallback.h"
#include "python/dispatch/loops/loop_at_once.h"
#include "python/dispatch/loops/loop_resolution.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/dispatch/loops/promotion.h"
#include "python/dispatch/ufunc_type.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/create.h"
#include "python/object/node.h"
#include "python/object/plain.h"
#include "python/object/scalar.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/interpreter/package_functions.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

struct UfuncCall {
  UfuncObject* u;
  Input in[kMaxOperands];
  std::optional<Array> own[kMaxOperands];  // operands that were not arrays
  int device = 0;
  bool dense = true;  // all arrays are dense and of one shape
  Dims shape;

  Layout output(DType t) const {
    const Layout* like[kMaxOperands];
    int n = 0;
    for (const Input& input : in)
      if (input.array) like[n++] = &input.array->layout;
    return result_layout(t, shape, like, n, device);
  }
};

// Reads the operands; determines shape and device.
void gather_inputs(UfuncCall& c, PyObject* const* inputs) {
  UfuncObject* u = c.u;
  const ArrayObject* first = nullptr;
  for (int i = 0; i < u->nin; ++i) {
    if (!is_array(inputs[i])) continue;
    const ArrayObject* a = as_array(inputs[i]);
    if (!a->array.storage()) throw Error(ErrorKind::runtime, std::string(u->name) + ": the array's value was not kept");
    if (first && first->device != a->device && !in_collective)
      throw Error(ErrorKind::value, std::string(u->name) + ": arrays must be on one device, got " +
                                        device_name(first->device) + " and " + device_name(a->device));
    if (!first) first = a, c.device = a->device;
  }
  bool shaped = false;
  for (int i = 0; i < u->nin; ++i) {
    Input& in = c.in[i];
    in.object = inputs[i];
    if (is_array(inputs[i])) {
      in.array = &as_array(inputs[i])->array;
    } else if ((in.weak = weak_rank(inputs[i])) < 0) {
      in.array = &c.own[i].emplace(from_object(u->name, inputs[i], c.device));
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

Array check_out(UfuncCall& c, PyObject* out, DType t) {
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

// Puts a call whose results exist onto the tape, if inputs are on it.
inline void record_call(UfuncObject* u, PyObject* const* inputs, PyObject** results, bool taped) {
  if (taped && (tracing || u->grads != Py_None) &&
      !record(reinterpret_cast<PyObject*>(u), inputs, u->nin, results, u->nout, nullptr, u->save))
    throw PythonError{};
}

// The operands of a loop, with Python's numbers in its dtypes. Returns whether every array has the loop's dtype.
bool put_operands(const UfuncCall& c, const Signature& s, Operand (&operands)[kMaxOperands]) {
  bool typed = true;
  for (int i = 0; i < c.u->nin; ++i) {
    operands[i].array = c.in[i].array;
    if (c.in[i].array)
      typed = typed && c.in[i].array->layout.dtype == s.types[i];
    else if (!put_scalar(c.u->name, c.in[i].object, s.types[i], operands[i].scalar.bytes))
      throw PythonError{};
  }
  return typed;
}

void check_writes_no_tape(const UfuncObject* u, PyObject* out, bool taped) {
  if (u->nout != 1)
    throw Error(ErrorKind::not_implemented, std::string(u->name) + ": out must be None for several outputs");
  if (recording && (taped || as_array(out)->node))
    throw Error(ErrorKind::runtime, std::string(u->name) +
                                        ": an array on the tape must not be written in place while recording; "
                                        "write x = x + 1 in place of x += 1, or write outside of autograd.record()");
}

// Whether an operand has the dtype of the calculation. Otherwise NumPy's scalars leave it to the loops over arrays.
bool keeps_dtype(const UfuncCall& c, const Signature& s) {
  return std::any_of(c.in, c.in + c.u->nin,
                     [&](const Input& in) { return in.array && in.array->layout.dtype == s.types[0]; });
}

PyObject* perform(UfuncObject* u, PyObject* const* inputs, PyObject* out, PyObject* dtype, bool of_scalars) {
  UfuncCall c{u};
  gather_inputs(c, inputs);
  const Signature* s = resolve(u, c.in, dtype);
  if (of_scalars && s->of_scalars && keeps_dtype(c, *s)) s = s->of_scalars;
  Operand operands[kMaxOperands];
  bool typed = put_operands(c, *s, operands);
  bool taped = false;
  for (int i = 0; i < u->nin; ++i) taped = taped || on_tape(inputs[i]);
  const bool given = out && out != Py_None;
  if (given) check_writes_no_tape(u, out, taped);
  PyObject* results[kMaxOperands] = {};
  std::optional<Array> made[kMaxOperands];
  const Array* outputs[kMaxOperands];
  for (int i = 0; i < u->nout; ++i)
    outputs[i] = &made[i].emplace(given ? check_out(c, out, s->types[u->nin])
                                        : Array::make(c.output(s->types[u->nin + i]), budget_of(c.device)));
  const Array& first = *outputs[0];
  typed = typed && u->nout == 1 && first.layout.dtype == s->types[u->nin];
  const bool done = typed && fits_loop_at_once(*s, first.layout.size, u->nin + 1) &&
                    strided_loop_at_once(u->name, *s, operands, u->nin, first, given ? given_room : fresh_room);
  if (!done) {
    Building op;
    if (c.dense && typed && !given)
      build_elementwise_dense(*op, u->name, s->loop, s->types, operands, u->nin, first);
    else
      build_elementwise(*op, u->name, s->loop, s->types, operands, u->nin, outputs, u->nout);
    op.issue(c.device);
  }
  for (int i = 0; i < u->nout; ++i)
    if (!(results[i] = given ? Py_NewRef(out) : wrap_result(std::move(*made[i])))) throw PythonError{};
  record_call(u, inputs, results, taped);
  if (u->nout == 1) return results[0];
  PyObject* tuple = PyTuple_New(u->nout);
  for (int i = 0; i < u->nout; ++i) PyTuple_SET_ITEM(tuple, i, results[i]);
  return tuple;
}

// Whether an operand is a single value that, next to an array of dtype `t`, does not change the result's dtype: an
// array without axes with a computed value, or a scalar of NumPy's. Writes the value in that dtype.
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

// The same for any number, which takes the array's dtype. An exception is set if it is out of that dtype's range.
bool number(const UfuncObject* u, PyObject* o, DType t, unsigned char* bytes) {
  const int weak = weak_rank(o);
  if (weak < 0) return constant(o, t, bytes);
  const bool keeps = weak == 1 ? t != DType::b1 : weak == 2 ? is_inexact(t) : weak == 3 && is_complex(t);
  return keeps && put_scalar(u->name, o, t, bytes);
}

// A call without type resolution: packed arrays of one shape, order of axes and dtype on one device, or one such array
// and a number.
struct PlainCall {
  UfuncObject* u;
  const ArrayObject* like = nullptr;  // the array whose shape and dtype the others have
  const Signature* signature = nullptr;
  Operand operands[3];
  bool taped = false;
  bool permuted = false;  // the axes are not in C order

  const Layout& layout() const { return like->array.layout; }
  DType result_dtype() const { return signature->types[u->nin]; }
  bool fits_at_once() const { return fits_loop_at_once(*signature, layout().size, u->nin + 1); }
};

// Finds the arrays among the operands; false: the call is not plain.
inline bool put_arrays(PlainCall& c, PyObject* const* inputs) {
  for (int i = 0; i < c.u->nin; ++i) {
    if (!is_array(inputs[i])) continue;
    const ArrayObject* other = as_array(inputs[i]);
    const Layout& layout = other->array.layout;
    if (!other->array.storage()) return false;
    if (!layout.contiguous()) [[unlikely]] {
      if (!layout.packed()) return false;
      c.permuted = true;
    }
    c.taped = c.taped || (other->node && recording);
    if (!c.like) {
      c.like = other;
    } else if (c.like != other) {
      const Layout& first = c.layout();
      if (c.like->device != other->device) return false;
      if (first.dtype != layout.dtype || !(first.shape == layout.shape)) {
        if (first.ndim() && layout.ndim()) return false;
        if (!layout.ndim()) continue;
        c.operands[0].array = nullptr, c.like = other;  // the first one is a number
      } else if (c.permuted && first.strides != layout.strides) {
        return false;
      }
    }
    c.operands[i].array = &other->array;
  }
  return c.like && !(c.permuted && budget_of(c.like->device)->accelerator);
}

// Finds the loop for the dtype of the arrays, and casts the numbers among the operands to that dtype.
inline bool put_numbers(PlainCall& c, PyObject* const* inputs) {
  const DType in = c.layout().dtype;
  c.signature = c.u->same[static_cast<int>(in)];
  if (!c.signature || (!is_inexact(in) && is_inexact(c.result_dtype()))) return false;
  for (int i = 0; i < c.u->nin; ++i)
    if (!c.operands[i].array && !number(c.u, inputs[i], in, c.operands[i].scalar.bytes))
      return PyErr_Occurred() ? throw PythonError{} : false;
  return true;
}

// Writes into `out` at once; false: it has not.
inline bool write_plain(const PlainCall& c, PyObject* out) {
  if (Py_TYPE(out) != array_type || on_tape(out) || c.taped || as_array(out)->device != c.like->device) return false;
  const Array& to = as_array(out)->array;
  return to.storage() && to.layout.shape == c.layout().shape && to.layout.dtype == c.result_dtype() && !c.permuted &&
         !to.layout.read_only && c.fits_at_once() && in_place_at_once(*c.signature, c.operands, c.u->nin, to);
}

inline Array make_plain(const PlainCall& c) {
  const Layout& layout = c.layout();
  const DType t = c.result_dtype();
  MemoryBudget* budget = budget_of(c.like->device);
  if (layout.ndim() == 0) return Array::make_scalar(t, budget);
  return Array::make_like(layout, t, budget);
}

// The most frequent calls: plain ones, into a new array or, at once, into `out`. Null without an exception: it is not
// such a call.
PyObject* perform_plain(UfuncObject* u, PyObject* const* inputs, PyObject* out, bool of_scalars) {
  PlainCall c{u};
  if (!put_arrays(c, inputs) || !put_numbers(c, inputs)) return nullptr;
  if (of_scalars && c.signature->of_scalars) c.signature = c.signature->of_scalars;
  if (out) return write_plain(c, out) ? Py_NewRef(out) : nullptr;
  Array made = make_plain(c);
  if (!c.fits_at_once() || !loop_at_once(*c.signature, c.operands, u->nin, made, fresh_room)) {
    Building op;
    build_elementwise_dense(*op, u->name, c.signature->loop, c.signature->types, c.operands, u->nin, made);
    op.issue(c.like->device);
  }
  PyObject* result = wrap_result(std::move(made));
  if (!result) throw PythonError{};
  record_call(u, inputs, &result, c.taped);
  return result;
}

// f(2.0) of a float, Python's or NumPy's. Null: it is not such a call, or an operation must do it.
PyObject* perform_number(UfuncObject* u, PyObject* x) {
  const bool python = PyFloat_CheckExact(x);
  if (!python && !Py_IS_TYPE(x, &PyDoubleArrType_Type)) return nullptr;
  const Signature* s = u->same[static_cast<int>(python ? default_float : DType::f64)];
  if (!s || !fits_loop_at_once(*s, 1, 2)) return nullptr;
  Operand value;
  if (!put_scalar(u->name, x, s->types[0], value.scalar.bytes)) throw PythonError{};
  Array made = Array::make_scalar(s->types[1], budget_of(0));
  return loop_at_once(*s, &value, 1, made, fresh_room) ? wrap_result(std::move(made)) : nullptr;
}

// Whether a Python number converts to dtype t without overflow.
bool small_number(PyObject* o, DType t) {
  constexpr double kMost = 65504;  // the largest number of float16
  if (PyFloat_CheckExact(o)) return t == DType::f64 || t == DType::c128 || std::abs(PyFloat_AS_DOUBLE(o)) <= kMost;
  int beyond = 0;
  long long n = PyLong_CheckExact(o) ? PyLong_AsLongLongAndOverflow(o, &beyond) : 0;
  return PyLong_CheckExact(o) && !beyond && (is_integer(t) || std::abs(static_cast<double>(n)) <= kMost);
}

}  // namespace

PyObject* call_masked(UfuncObject* u, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
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
  const Signature* s = known ? same_loop(u, t) : nullptr;
  if (!s || s->types[u->nin] != to->layout.dtype || (!is_inexact(t) && is_inexact(s->types[u->nin]))) return nullptr;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (operands[i].array) continue;
    const bool fits =
        (weak_rank(args[i]) < 0 || small_number(args[i], t)) && number(u, args[i], t, operands[i].scalar.bytes);
    if (!fits) return PyErr_Clear(), nullptr;
  }
  Building op;
  build_masked(*op, u->name, s->loop, s->types, operands, u->nin, &to, 1, *mask);
  op.issue(as_array(out)->device);
  return Py_NewRef(out);
}

// Handles a Python integer that does not fit into the dtype: comparisons have a method for it, which returns
// NotImplemented if it cannot help. Called with the OverflowError set.
static PyObject* call_beyond(UfuncObject* u, PyObject* const* inputs, PyObject* out) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  auto* self = reinterpret_cast<PyObject*>(u);
  PyObject* result = Py_NewRef(Py_NotImplemented);
  if (PyObject_HasAttrString(self, "beyond"))
    Py_SETREF(result, hang_if_finalizing([&] {
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

// Whether a list contains arrays, whose dtypes, devices and gradients count.
static bool holds_array(PyObject* o, int depth) {
  if (!is_list(o) || depth == kMaxDims) return false;
  PyObject* const* items = PySequence_Fast_ITEMS(o);
  return std::any_of(items, items + PySequence_Fast_GET_SIZE(o),
                     [depth](PyObject* item) { return is_array(item) || holds_array(item, depth + 1); });
}

// The call of an array together with plain lists, which become arrays at once. Null without an exception set: they are
// not plain.
static PyObject* call_with_plain_lists(UfuncObject* u, PyObject* const* inputs, PyObject* out, PyObject* dtype) {
  PyObject* const* const end = inputs + u->nin;
  PyObject* const* const array = std::find_if(inputs, end, is_array);
  if (array == end || tracing) return nullptr;
  nb::object made[kMaxOperands];
  PyObject* given[kMaxOperands];
  for (int i = 0; i < u->nin; ++i) {
    given[i] = inputs[i];
    if (!is_list(inputs[i])) continue;
    made[i] = nb::steal(call_package(PackageFunction::array_of_list, inputs[i], nullptr, nullptr));
    given[i] = made[i].ptr();
    if (!given[i] || !is_array(given[i]) || as_array(*array)->device != as_array(given[i])->device) return nullptr;
  }
  return call_ufunc(u, given, u->nin, out, dtype);
}

// The same for any lists, which the Python function converts to arrays.
static PyObject* call_with_any_lists(UfuncObject* u, PyObject* const* inputs, PyObject* out, PyObject* dtype) {
  PyObject* const* const end = inputs + u->nin;
  PyObject* const* const array = std::find_if(inputs, end, is_array);
  nb::object device = array == end ? nb::none() : nb::steal(device_object(as_array(*array)->device));
  nb::object name = nb::steal(PyUnicode_FromString(u->name));
  if (!device || !name) return nullptr;
  nb::object made[kMaxOperands];
  PyObject* given[kMaxOperands];
  for (int i = 0; i < u->nin; ++i) {
    if (is_list(inputs[i]))
      made[i] = nb::steal(call_package(PackageFunction::asarray, inputs[i], Py_None, device.ptr(), name.ptr()));
    else
      made[i] = nb::borrow(inputs[i]);
    if (!made[i]) return nullptr;
    given[i] = made[i].ptr();
  }
  return call_ufunc(u, given, u->nin, out, dtype);
}

PyObject* call_with_arrays(UfuncObject* u, PyObject* const* inputs, PyObject* out, PyObject* dtype) {
  PyObject* result = call_with_plain_lists(u, inputs, out, dtype);
  return result || PyErr_Occurred() ? result : call_with_any_lists(u, inputs, out, dtype);
}

// Whether NumPy's ufunc gets the operands, while forerun replaces NumPy: one is of a derived class, or there are few
// elements, all in NumPy's arrays.
static bool are_for_numpy(PyObject* const* inputs, Py_ssize_t n) {
  return std::any_of(inputs, inputs + n, is_derived) || (!is_array(inputs[0]) && are_numpy_arrays(inputs, n));
}

PyObject* call_ufunc(UfuncObject* u, PyObject* const* inputs, Py_ssize_t n, PyObject* out, PyObject* dtype,
                     bool of_scalars) {
  if (n != u->nin) {
    PyErr_Format(PyExc_TypeError, "%s: takes %d operands, got %zd", u->name, u->nin, n);
    return call_fallback(reinterpret_cast<PyObject*>(u), inputs, n, out, dtype);
  }
  if (numpy_rules && absent(out) && !dtype && are_for_numpy(inputs, n) && Py_IS_TYPE(u->ufunc, &PyUFunc_Type))
    return PyObject_Vectorcall(u->ufunc, inputs, static_cast<size_t>(n), nullptr);
  if (std::any_of(inputs, inputs + n, is_list)) {
    PyObject* result = call_with_plain_lists(u, inputs, out, dtype);
    if (result || PyErr_Occurred()) return result;
  }
  if (std::any_of(inputs, inputs + n, [](PyObject* o) { return holds_array(o, 0); })) {
    PyObject* result = call_with_any_lists(u, inputs, out, dtype);
    return result ? result : call_fallback(reinterpret_cast<PyObject*>(u), inputs, n, out, dtype);
  }
  PyObject* result = guarded([&]() -> PyObject* {
    if (!dtype && u->nin <= 2 && u->nout == 1)
      if (PyObject* result = perform_plain(u, inputs, absent(out) ? nullptr : out, of_scalars)) return result;
    if (!dtype && u->nin == 1 && u->nout == 1 && absent(out))
      if (PyObject* result = perform_number(u, inputs[0])) return result;
    return perform(u, inputs, out, dtype, of_scalars);
  });
  if (!result && u->nin == 2 && PyErr_ExceptionMatches(PyExc_OverflowError)) result = call_beyond(u, inputs, out);
  if (!result) [[unlikely]]
    result = call_fallback(reinterpret_cast<PyObject*>(u), inputs, n, out, dtype);
  return result;
}

}  // namespace forerun
