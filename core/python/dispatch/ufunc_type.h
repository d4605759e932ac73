// A Python callable that issues element-wise ops: a table of compiled loops and what gradients need to know of it.
#pragma once
#include <deque>

#include "kernels/loop.h"
#include "python/object/array_type.h"

namespace forerun {

constexpr int kMaxOperands = 6;

struct Signature {
  DType types[kMaxOperands];
  Loop loop;
};

struct UfuncObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *ufunc, *grads, *dict, *py_name;
  const char* name;     // interned, never freed
  const char* at_name;  // of what the method `at` does, once it has been called; the same
  int nin, nout;
  unsigned save;
  std::deque<Signature>* signatures;  // grows once, when bfloat16 is first met: pointers into it stay good
  bool has_bfloat16;                  // its loops have been looked for
  const Signature* same[kDTypes];     // all inputs of this dtype
  bool has_identity;
  double identity;
};

// Lets a class that was made in Python of a vectorcall type be called like one, too: up to 3.11 Python does not.
inline void lend_vectorcall(PyTypeObject* type) {
  if (type->tp_call == PyVectorcall_Call) type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
}

PyTypeObject* make_ufunc_type();
extern PyTypeObject* ufunc_type;
UfuncObject* get_ufunc(const char* op, PyObject* o);

// Its signatures: the loops of a NumPy ufunc (false with an exception set: it has none for us), those of a choice, or
// of values that must lie within limits, given as a tuple (message, low, high, open_low, open_high, takes_nan,
// overflow); then list_same() notes which of them takes one dtype for all inputs.
bool add_numpy_loops(UfuncObject* u, PyObject* ufunc);
void add_select_loops(UfuncObject* u);
bool add_limiting_loops(UfuncObject* u, PyObject* limits);
void list_same(UfuncObject* u);

// The loop whose inputs are all of dtype t, or null.
const Signature* same_loop(UfuncObject* u, DType t);

// The loop of just these dtypes in a tuple, of inputs and outputs; TypeError if there is none.
const Signature* named_loop(UfuncObject* u, PyObject* dtypes);

// u(inputs...): a new reference to the output(s), or null with an exception set. `out`, `dtype` may be null or None.
PyObject* call_ufunc(UfuncObject* u, PyObject* const* inputs, Py_ssize_t n, PyObject* out, PyObject* dtype);

// A loop of a generalized ufunc of NumPy's with the signature (n),()->(m), for inputs of dtype t. It lives as long as
// the process.
struct LineLoop {
  Loop loop;
  DType factor, out;
};
const LineLoop* line_loop(PyObject* ufunc, DType t);  // null: there is none

struct Combine;
// What u.at does with its loop, in the fastest way for elements of dtype t.
Combine combined(UfuncObject* u, const Signature& s, DType t);

DType promote(DType a, DType b);
void set_promotion(int a, int b, int result);

}  // namespace forerun
