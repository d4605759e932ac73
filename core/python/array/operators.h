// Operators of the array type: numbers, comparisons, products of matrices.
#pragma once
#include <Python.h>

#include <span>

namespace forerun {

std::span<const PyType_Slot> operator_slots();

}  // namespace forerun
