#include "python/runtime/interpreter/package_functions.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "base/error.h"
#include "python/runtime/interpreter/gil.h"

namespace forerun {

namespace {

constexpr const char* kFunctionNames[] = {"getitem", "setitem",       "matmul",    "fit",
                                          "asarray", "array_of_list", "transpose", "no_index"};
static_assert(std::size(kFunctionNames) == static_cast<size_t>(PackageFunction::count));

PyObject* functions[static_cast<int>(PackageFunction::count)];

PyObject*& named(const char* name) {
  for (size_t i = 0; i < std::size(kFunctionNames); ++i)
    if (std::strcmp(kFunctionNames[i], name) == 0) return functions[i];
  throw Error(ErrorKind::value, std::string("no such function: ") + name);
}

}  // namespace

std::span<const char* const> package_function_names() { return kFunctionNames; }

PyObject* call_package(PackageFunction function, PyObject* a, PyObject* b, PyObject* c, PyObject* d) {
  PyObject* f = functions[static_cast<int>(function)];
  if (!f)
    return PyErr_Format(PyExc_NotImplementedError,
                        "%s: forerun.np must be imported first, got an array made without it",
                        kFunctionNames[static_cast<int>(function)]);
  return hang_if_finalizing([&] { return PyObject_CallFunctionObjArgs(f, a, b, c, d, nullptr); });
}

void set_package_function(const char* name, PyObject* function) { Py_XSETREF(named(name), Py_NewRef(function)); }

}  // namespace forerun
