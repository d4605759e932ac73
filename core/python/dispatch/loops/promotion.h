// Promotion of dtypes and of weak scalars, which are Python's numbers.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>

#include "base/dtype.h"

namespace forerun {

extern uint8_t promotion[kDTypes][kDTypes];
inline DType promote(DType a, DType b) {
  return static_cast<DType>(promotion[static_cast<int>(a)][static_cast<int>(b)]);
}
// Sets the table of promotion: for each dtype a row of its results with each dtype.
void set_promotions(nanobind::handle table);

// The rank of a weak scalar: bool 0, int 1, float 2, complex 3; -1: the object is not a Python number.
inline int weak_rank(PyObject* o) {
  if (PyFloat_CheckExact(o)) return 2;
  if (PyLong_CheckExact(o)) return 1;
  if (PyBool_Check(o)) return 0;
  if (PyComplex_CheckExact(o)) return 3;
  return -1;
}
// The promotion of the common dtype of the arrays (`known`: whether there are any) with a weak scalar of this rank.
DType with_weak(DType common, bool known, int weak);
// NumPy's rule "same_kind": bool, unsigned and signed integers, floats, complex numbers; each may be cast to a later
// one.
bool fits_kind(DType from, DType to);

}  // namespace forerun
