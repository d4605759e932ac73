// The module forerun._core: its types, and the functions that issue the families.
#define FORERUN_IMPORTS_NUMPY
#include "python/direct/function_type.h"
#include "python/numpy_api.h"

#include <nanobind/nanobind.h>

#include "cpu/workers.h"
#include "python/autograd/node.h"
#include "python/dispatch/fallback.h"
#include "python/dispatch/operator_table.h"
#include "python/dispatch/primitive_type.h"
#include "python/dispatch/ufunc_type.h"
#include "python/object/array_type.h"
#include "python/object/iterators.h"

namespace nb = nanobind;

namespace forerun {
void init_engine(nb::module_& m);    // set-up, waiting, statistics, events
void init_arrays(nb::module_& m);    // making, copying, viewing
void init_dlpack(nb::module_& m);    // arrays for other libraries, and from them
void init_families(nb::module_& m);  // reductions, scans, products, random numbers, host tasks
void init_indexing(nb::module_& m);  // reading and writing by position and under a mask
void init_windows(nb::module_& m);   // convolutions and pooling
void init_recurrent(nb::module_& m);
void init_transforms(nb::module_& m);
void init_tape(nb::module_& m);
void init_programs(nb::module_& m);  // recording what is issued, to issue it again
void init_walk(nb::module_& m);
void init_blocking(nb::module_& m);  // waits
void init_wiring(nb::module_& m);    // what the core asks of the package
void init_await(nb::module_& m);     // bells and watches, for event loops

namespace {

int import_numpy() {
  import_array1(-1);
  import_umath1(-1);
  return 0;
}

}  // namespace
}  // namespace forerun

NB_MODULE(_core, m) {
  using namespace forerun;
  if (PyInterpreterState_Get() != PyInterpreterState_Main())
    throw nb::import_error(
        "forerun: must be imported in the main interpreter, got a sub-interpreter, which is not supported");
  if (import_numpy() < 0) throw nb::python_error();
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const PythonError&) {
    } catch (const Error& error) {
      set_python_error(error);
    }
  });
  nb::set_leak_warnings(false);  // a loop that nobody closed has its bell to the end of the process
  m.doc() = "The engine of forerun, and the arrays that it works on. Private: use the package.";
  m.attr("Array") = nb::steal(reinterpret_cast<PyObject*>(make_array_type()));
  m.attr("Ufunc") = nb::steal(reinterpret_cast<PyObject*>(make_ufunc_type()));
  m.attr("Fallback") = nb::steal(reinterpret_cast<PyObject*>(make_fallback_type()));
  m.attr("Primitive") = nb::steal(reinterpret_cast<PyObject*>(make_primitive_type()));
  m.attr("Variable") = nb::steal(reinterpret_cast<PyObject*>(make_variable_type()));
  m.attr("Function") = nb::steal(reinterpret_cast<PyObject*>(make_function_type()));
  if (!make_elements_type()) throw nb::python_error();
  m.attr("Flat") = nb::steal(reinterpret_cast<PyObject*>(make_flat_type()));
  m.attr("Node") = nb::steal(reinterpret_cast<PyObject*>(make_node_type()));
  use_cpu_workers(Engine::get());
  init_engine(m);
  init_fallback(m);
  init_arrays(m);
  init_dlpack(m);
  init_families(m);
  init_indexing(m);
  init_windows(m);
  init_recurrent(m);
  init_transforms(m);
  init_tape(m);
  init_programs(m);
  init_walk(m);
  init_await(m);
  init_blocking(m);
  init_wiring(m);
}
