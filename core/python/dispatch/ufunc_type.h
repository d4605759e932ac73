// A Python callable that issues element-wise ops: a table of compiled loops and the facts that gradients need.
#pragma once
#include <Python.h>

#include <cstdint>
#include <deque>

#include "base/dtype.h"
#include "cpu/loops/loop.h"
#include "python/dispatch/loops/loop_table.h"

namespace forerun {

// Facts about an op besides its loops, from its paragraph in the package.
struct UfuncFacts {
  Formula formula = Formula::none;  // of the loops of dtypes that have it (formulas.h)
  // Dtypes for which results have the same bits however a loop computes them, as they are rounded once.
  enum class Exact : uint8_t { none, real_numbers, all_numbers } exact = Exact::none;
  // A value that leaves any other unchanged when they are combined, except for a sum of nothing but -0.0, which NumPy
  // makes positive, too. A reduction with a Python number for it starts from that number.
  enum class Neutral : uint8_t { none, zero, one, lowest, highest } neutral = Neutral::none;
  bool takes_bools = true;        // if there is no loop for them, as small integers
  bool widens_integers = false;   // also with NumPy's rules, small integers give the default float
  bool needs_packed = false;      // the loops are wrong for operands with gaps
  bool checks_exponents = false;  // integers to negative powers are errors
  bool slow = false;              // the loop of double precision takes several nanoseconds for each element
  bool accumulates = false;       // reductions of narrower floats are computed in `accumulate_in`, and rounded once
  DType accumulate_in = DType::f32;
  const char *reduction = nullptr,
             *scan = nullptr;  // interned: names of reduce and accumulate, if they are functions
};

struct UfuncObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *ufunc, *grads, *dict, *py_name;
  const char* name;     // interned, never freed
  const char* at_name;  // the name of the method `at`, once it has been called; likewise
  int nin, nout;
  unsigned save;
  UfuncFacts facts;
  std::deque<Signature>* signatures;  // grows once, when bfloat16 is first used: pointers into it remain valid
  bool has_bfloat16;                  // whether its loops have been looked for
  const Signature* same[kDTypes];     // the loop with all inputs of this dtype
  bool has_identity;
  double identity;
};

// Lets a class made in Python from a vectorcall type be called through vectorcall, which Python up to 3.11 does not do.
inline void lend_vectorcall(PyTypeObject* type) {
  if (type->tp_call == PyVectorcall_Call) type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
}

PyTypeObject* make_ufunc_type();
extern PyTypeObject* ufunc_type;
UfuncObject* get_ufunc(const char* op, PyObject* o);

}  // namespace forerun
