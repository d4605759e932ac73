// A Python callable that issues element-wise ops: a table of compiled loops and what gradients need to know of it.
#pragma once
#include <Python.h>

#include <deque>

#include "base/dtype.h"
#include "python/dispatch/loop_table.h"

namespace forerun {

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

}  // namespace forerun
