// Methods that read values of arrays into Python and NumPy, and wait for them.
#pragma once
#include <Python.h>

#include <span>

namespace forerun {

std::span<const PyType_Slot> value_slots();

}  // namespace forerun
