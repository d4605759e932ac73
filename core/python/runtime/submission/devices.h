// Devices, as Python names them.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "array/array.h"
#include "engine/devices/memory_budget.h"

namespace forerun {

MemoryBudget* budget_of(int device);
// The memory into which the front end writes values for a device: its own, or the host's, from where they are copied.
MemoryBudget* host_budget_of(int device);
inline int device_of(const Array& array) { return array.storage()->budget->device; }
std::string device_name(int device);  // "cpu(1)", "gpu(0)"
PyObject* device_object(int device);  // a new reference
void set_devices(PyObject* list);
int device_index(const char* op, nanobind::handle device);  // a Device object, an int, or None (the first device)
// The device of the operands of one op; throws Error if they are on several devices.
int same_device(const char* op, const Array& a, const Array& b);

// The device on which this thread makes new arrays, and whether Python's integers become floats; set by the Python
// package.
extern constinit thread_local int default_device;
extern bool ints_become_floats;

}  // namespace forerun
