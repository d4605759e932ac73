// How dtypes and Python's numbers are promoted.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>

#include "base/dtype.h"

namespace forerun {

extern uint8_t promotion[kDTypes][kDTypes];
inline DType promote(DType a, DType b) {
  return static_cast<DType>(promotion[static_cast<int>(a)][static_cast<int>(b)]);
}
// How dtypes are promoted: per dtype a row of the numbers that it gives with each.
void set_promotions(nanobind::handle table);

// Of a Python number: bool 0, int 1, float 2, complex 3; -1: it is none.
inline int weak_rank(PyObject* o) {
  if (PyFloat_CheckExact(o)) return 2;
  if (PyLong_CheckExact(o)) return 1;
  if (PyBool_Check(o)) return 0;
  if (PyComplex_CheckExact(o)) return 3;
  return -1;
}
// The dtype that a Python number of this rank makes of a common dtype of arrays (`known`: there are arrays).
DType with_weak(DType common, bool known, int weak);
// NumPy's rule "same_kind": bool, unsigned and signed integers, floats, complex numbers, each may become what follows.
bool fits_kind(DType from, DType to);

}  // namespace forerun
