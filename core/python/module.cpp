// The module forerun._core: its types, and the functions that issue operations.
#define FORERUN_IMPORTS_NUMPY
#include <nanobind/nanobind.h>

#include "cpu/threads.h"
#include "python/array/array_type.h"
#include "python/array/iterators.h"
#include "python/autograd/leaf.h"
#include "python/bindings.h"
#include "python/direct/function_type.h"
#include "python/dispatch/fallback.h"
#include "python/dispatch/primitive_type.h"
#include "python/dispatch/ufunc_type.h"
#include "python/numpy_api.h"
#include "python/object/node.h"
#include "python/runtime/errors/errors.h"

namespace forerun {
// Each adds the functions of one file to the module.
void init_accelerators(Module& m);
void init_settings(Module& m);
void init_fork_exit(Module& m);
void init_loop_compiler(Module& m);
void init_introspection(Module& m);
void init_profiler(Module& m);
void init_call_site(Module& m);
void init_wait(Module& m);
void init_wait_log(Module& m);
void init_asyncio_events(Module& m);
void init_fallback(Module& m);
void init_create(Module& m);
void init_views(Module& m);
void init_scalars(Module& m);
void init_numpy_classes(Module& m);
void init_dlpack(Module& m);
void init_reduce(Module& m);
void init_matmul(Module& m);
void init_concatenate(Module& m);
void init_histogram(Module& m);
void init_random(Module& m);
void init_host_tasks(Module& m);
void init_index(Module& m);
void init_conv(Module& m);
void init_rnn(Module& m);
void init_fft(Module& m);
void init_tape(Module& m);
void init_backward(Module& m);
void init_captured_programs(Module& m);
void init_pjrt(Module& m);
void init_pjrt_accelerators(Module& m);
void init_net(Module& m);
void init_wiring(Module& m);

namespace {

int import_numpy() {
  import_array1(-1);
  import_umath1(-1);
  return 0;
}

}  // namespace
}  // namespace forerun

NB_MODULE(_core, module) {
  using namespace forerun;
  Module m(module);
  if (PyInterpreterState_Get() != PyInterpreterState_Main())
    throw nb::import_error(
        "forerun: must be imported in the main interpreter, got a sub-interpreter, which is not supported");
  if (import_numpy() < 0 || !make_front_end()) throw nb::python_error();
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const PythonError&) {
    } catch (const Error& error) {
      set_python_error(error);
    }
  });
  nb::set_leak_warnings(false);  // a loop that was not closed keeps its completion queue until the end of the process
  m.doc() = "The engine of forerun, and the arrays that it works on. Private: use the package.";
  m.attr("Array") = nb::steal(reinterpret_cast<PyObject*>(make_array_type()));
  m.attr("Ufunc") = nb::steal(reinterpret_cast<PyObject*>(make_ufunc_type()));
  m.attr("Fallback") = nb::steal(reinterpret_cast<PyObject*>(make_fallback_type()));
  m.attr("Primitive") = nb::steal(reinterpret_cast<PyObject*>(make_primitive_type()));
  m.attr("Variable") = nb::steal(reinterpret_cast<PyObject*>(make_leaf_type()));
  m.attr("Function") = nb::steal(reinterpret_cast<PyObject*>(make_function_type()));
  if (!make_elements_type()) throw nb::python_error();
  m.attr("Flat") = nb::steal(reinterpret_cast<PyObject*>(make_flat_type()));
  m.attr("Node") = nb::steal(reinterpret_cast<PyObject*>(make_node_type()));
  use_cpu_workers(Engine::get());
  init_settings(m);
  init_accelerators(m);
  init_fork_exit(m);
  init_loop_compiler(m);
  init_introspection(m);
  init_profiler(m);
  init_call_site(m);
  init_wait(m);
  init_wait_log(m);
  init_asyncio_events(m);
  init_fallback(m);
  init_create(m);
  init_views(m);
  init_scalars(m);
  init_numpy_classes(m);
  init_dlpack(m);
  init_reduce(m);
  init_matmul(m);
  init_concatenate(m);
  init_histogram(m);
  init_random(m);
  init_host_tasks(m);
  init_index(m);
  init_conv(m);
  init_rnn(m);
  init_fft(m);
  init_tape(m);
  init_backward(m);
  init_captured_programs(m);
  init_pjrt(m);
  init_pjrt_accelerators(m);
  init_net(m);
  init_wiring(m);
}
