// Attributes of arrays.
#pragma once
#include <Python.h>

#include <span>

namespace forerun {

std::span<const PyType_Slot> attribute_slots();

}  // namespace forerun
