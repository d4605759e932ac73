// Reading values of arrays into Python and NumPy: these methods wait.
#pragma once
#include <Python.h>

#include <span>

namespace forerun {

std::span<const PyType_Slot> value_slots();

}  // namespace forerun
