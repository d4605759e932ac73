// The loops of operators on scalars. NumPy's scalars have arithmetic of their own, whose last bits differ from those of
// loops over arrays in three operators: powers of floats, and products and absolute values of complex numbers.
#pragma once
#include <complex>

#include "python/dispatch/operator_table.h"

namespace forerun {

struct UfuncObject;

// The product of complex numbers, in which each product of two parts is rounded.
template <class T>
std::complex<T> product(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Gives the signatures of an operator's ufunc their loops for scalars (Signature::of_scalars), where these differ.
void add_scalar_loops(UfuncObject* u, Operator which);

}  // namespace forerun
