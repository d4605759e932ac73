#include "python/dispatch/loops/loop_resolution.h"

#include <algorithm>
#include <string>

#include "base/dtype.h"
#include "base/error.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/dispatch/loops/promotion.h"
#include "python/dispatch/ufunc_type.h"
#include "python/object/conversion/dtypes.h"
#include "python/runtime/errors/errors.h"

namespace forerun {

namespace {

// --- calling ---------------------------------------------------------------------------------------------------------

// Whether a loop for dtype `to` may be used for operands of dtype `from`.
bool loop_takes(DType from, DType to) {
  if (from == to) return true;
  if (!is_inexact(from) && !numpy_rules)
    return is_inexact(to) ? to == default_float || to == DType::f64 : promote(from, to) == to;
  return promote(from, to) == to;
}

// The same for one operand of a ufunc whose loops have several dtypes, as ldexp's: there a Python integer may have any
// integer dtype.
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
  bool uniform = false;  // there are loops with one dtype for all inputs: the common dtype decides
  for (const Signature* s : u->same) uniform = uniform || s;
  bool has_default = u->same[static_cast<int>(default_float)];
  const bool small_to_default = !numpy_rules || u->facts.widens_integers;
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

// The kinds of numbers that a ufunc accepts, for messages.
std::string kinds_taken(const UfuncObject* u) {
  bool bools = false, integers = false, floats = false, complexes = false;
  for (const Signature& s : *u->signatures)
    for (int i = 0; i < u->nin; ++i) {
      DType t = s.types[i];
      bools = bools || (t == DType::b1 && u->facts.takes_bools);
      integers = integers || is_integer(t);
      complexes = complexes || is_complex(t);
      floats = floats || is_real_float(t);
    }
  std::string text;
  for (auto [taken, kind] :
       {std::pair{bools, "bools"}, {integers, "integers"}, {floats, "floats"}, {complexes, "complex numbers"}})
    if (taken) text += (text.empty() ? "" : ", ") + std::string(kind);
  return text;
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
  const Signature* found = common == DType::b1 && !u->facts.takes_bools ? nullptr : find_loop(u, common, in);
  if (!found)
    throw Error(ErrorKind::type, std::string(u->name) + ": no loop for dtype, got " + name(common) +
                                     "; it is defined for " + kinds_taken(u));
  return found;
}

}  // namespace forerun
