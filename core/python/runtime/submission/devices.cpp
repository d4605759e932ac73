#include "python/runtime/submission/devices.h"

#include <string>

#include "array/array.h"
#include "device/accelerator.h"
#include "engine/engine.h"
#include "python/bindings.h"

namespace forerun {

constinit thread_local int default_device = 0;
bool ints_become_floats = false;

namespace {

PyObject* devices;

}  // namespace

MemoryBudget* budget_of(int device) { return Engine::get().devices[device].budget.get(); }

MemoryBudget* host_budget_of(int device) {
  MemoryBudget* budget = budget_of(device);
  return budget->accelerator ? budget_of(0) : budget;
}

std::string device_name(int device) {
  const Accelerator* accelerator = budget_of(device)->accelerator;
  return accelerator ? accelerator->name() : "cpu(" + std::to_string(device) + ")";
}

PyObject* device_object(int device) {
  if (!devices || device >= PyList_GET_SIZE(devices)) return PyLong_FromLong(device);
  return Py_NewRef(PyList_GET_ITEM(devices, device));
}

void set_devices(PyObject* list) { Py_XSETREF(devices, Py_NewRef(list)); }

int device_index(const char* op, nb::handle device) {
  if (device.is_none()) return 0;
  long long i =
      nb::isinstance<nb::int_>(device) ? nb::cast<long long>(device) : nb::cast<long long>(device.attr("index"));
  if (i < 0 || i >= DeviceTable::kMostDevices)
    throw Error(ErrorKind::value, std::string(op) + ": device must be one of " +
                                      std::to_string(DeviceTable::kMostDevices) + ", got number " + std::to_string(i));
  if (i >= Engine::get().devices.size()) Engine::get().use_device(static_cast<int>(i));
  return static_cast<int>(i);
}

int same_device(const char* op, const Array& a, const Array& b) {
  if (device_of(a) != device_of(b))
    throw Error(ErrorKind::value, std::string(op) + ": arrays must be on one device, got " + device_name(device_of(a)) +
                                      " and " + device_name(device_of(b)));
  return device_of(a);
}

}  // namespace forerun
