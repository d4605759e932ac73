// Registration of the Python package's functions with the core: each by name, in one call that fails unless it is
// complete. src/forerun/_wiring makes the call.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "python/array/array_type.h"
#include "python/array/iterators.h"
#include "python/bindings.h"
#include "python/dispatch/loops/promotion.h"
#include "python/dispatch/operator_table.h"
#include "python/object/array_object.h"
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/interpreter/loop_compiler.h"
#include "python/runtime/interpreter/package_functions.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/waiting/stall_watchdog.h"
#include "python/runtime/waiting/wait_log.h"

namespace forerun {

namespace {

struct Need {
  std::string name;
  std::function<void(nb::handle)> set;  // throws if the object has a wrong type
};

Error refused(const std::string& name, const char* wanted, nb::handle given) {
  return {ErrorKind::type, "wire: " + name + " must be " + wanted + ", got " + Py_TYPE(given.ptr())->tp_name};
}

Need function(const char* name, std::function<void(PyObject*)> set) {
  return {name, [name, set = std::move(set)](nb::handle given) {
            if (!PyCallable_Check(given.ptr())) throw refused(name, "a function", given);
            set(given.ptr());
          }};
}

Need subclass(const char* name, PyTypeObject* base, const char* wanted, void (*set)(PyTypeObject*)) {
  return {name, [=](nb::handle given) {
            auto* type = reinterpret_cast<PyTypeObject*>(given.ptr());
            if (!PyType_Check(given.ptr()) || !PyType_IsSubtype(type, base)) throw refused(name, wanted, given);
            Py_INCREF(type);
            set(type);
          }};
}

void set_device_list(nb::handle given) {
  if (!PyList_Check(given.ptr())) throw refused("devices", "a list", given);
  set_devices(given.ptr());
}

void set_folders(nb::handle given) {
  std::vector<std::string> folders = list_of<std::string>(given);
  if (folders.size() != 3) throw refused("folders", "the package's, its examples' and NumPy's", given);
  set_package_folder(folders[0], folders[1], folders[2]);
}

// The functions that the engine calls: registered when forerun is imported.
std::vector<Need> engine_needs() {
  return {function("log", set_log),
          function("refuse", set_refuse),
          function("hang_report", set_hang_reporter),
          function("cell_name", set_cell_namer),
          {"devices", set_device_list},
          {"folders", set_folders}};
}

// The classes and functions of arrays: registered when forerun.np is imported.
std::vector<Need> array_needs() {
  std::vector<Need> needs = {subclass("array", array_base, "a class of arrays", set_array_type),
                             subclass("scalar", array_base, "a class of arrays", set_scalar_type),
                             subclass("flat", flat_base, "a class of iterators over elements", set_flat_type),
                             {"promotion", set_promotions},
                             function("compile_loop", set_loop_compiler)};
  for (const char* name : package_function_names())
    needs.push_back(function(name, [name](PyObject* f) { set_package_function(name, f); }));
  for (const char* name : operator_names())
    needs.push_back({name, [name](nb::handle op) { set_operator(name, op.ptr()); }});
  return needs;
}

std::vector<Need> needs_of(const std::string& part) {
  if (part == "engine") return engine_needs();
  if (part == "arrays") return array_needs();
  throw Error(ErrorKind::value, "wire: part must be \"engine\" or \"arrays\", got \"" + part + "\"");
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// Nothing is set unless all names are given.
void wire(const char* part, nb::dict given) {
  std::vector<Need> needs = needs_of(part);
  std::vector<std::string> missing;
  for (const Need& need : needs)
    if (!given.contains(need.name.c_str())) missing.push_back(need.name);
  std::string all = std::string("wire: ") + part + " must be given all that the core asks of the package";
  if (!missing.empty()) throw Error(ErrorKind::runtime, all + ", got no " + listed(missing));
  if (given.size() != needs.size())
    throw Error(ErrorKind::runtime, all + " and nothing else, got " + nb::cast<std::string>(nb::str(given.keys())));
  for (const Need& need : needs) need.set(given[need.name.c_str()]);
}

}  // namespace

void init_wiring(Module& m) {
  m.def(
      "wire", wire, nb::arg("part"), nb::arg("given"),
      "Registers functions of the package with the core, by name: for the \"engine\", or for \"arrays\". RuntimeError, "
      "which names the missing ones, unless all are given.");
}

}  // namespace forerun
