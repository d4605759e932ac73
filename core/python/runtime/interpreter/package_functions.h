// Python functions of the package that the core calls for cases not implemented in C++.
#pragma once
#include <Python.h>

#include <span>

namespace forerun {

enum class PackageFunction { getitem, setitem, matmul, fit, asarray, array_of_list, transpose, no_index, count };
// c and d may be null.
PyObject* call_package(PackageFunction function, PyObject* a, PyObject* b, PyObject* c, PyObject* d = nullptr);
void set_package_function(const char* name, PyObject* function);
std::span<const char* const> package_function_names();

}  // namespace forerun
