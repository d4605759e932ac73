// Configuration, waiting, statistics and events, for Python.
#include "python/runtime/settings.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/simd/simd_target.h"
#include "cpu/blas.h"
#include "cpu/cgroup_limits.h"
#include "cpu/kernels/gemm/matmul.h"
#include "engine/engine.h"
#include "memory/caching_allocator.h"
#include "memory/registered_blocks.h"
#include "python/bindings.h"
#include "python/runtime/submission/submit.h"
#include "python/runtime/wait.h"
#include "python/runtime/waiting/stall_watchdog.h"
#include "python/runtime/waiting/submission_gate.h"

namespace forerun {

void configure(const std::vector<int>& workers, int cores, uint64_t ops_ahead, int io_threads) {
  ClosedGate closed;
  quiesce();
  Engine::get().configure(workers, cores, io_threads);
  Engine::get().set_ops_ahead(ops_ahead);
}

namespace {

void set_memory(int device, size_t budget, size_t limit, size_t io_headroom) {
  MemoryBudget& b = *Engine::get().devices[device].budget;
  b.soft.store(budget), b.hard.store(limit), b.io_headroom.store(io_headroom);
}

void limit_shared(size_t budget, size_t limit, size_t io_headroom, int devices) {
  auto of_all = [&](size_t each) {
    return each > SIZE_MAX / static_cast<size_t>(devices) ? SIZE_MAX : each * static_cast<size_t>(devices);
  };
  Engine::get().limit_shared({budget, limit, io_headroom, of_all(budget), of_all(limit)});
}

std::string compiler() {
#ifdef __clang__
  std::string name = "Clang ";
#else
  std::string name = "GCC ";
#endif
#ifdef NDEBUG
  return name + __VERSION__ + ", C++" + std::to_string(__cplusplus / 100 % 100);
#else
  return name + __VERSION__ + ", C++" + std::to_string(__cplusplus / 100 % 100) + ", with assertions";
#endif
}

}  // namespace

void init_settings(Module& m) {
  m.def(
      "configure_queues",
      [](nb::handle workers, int cores, uint64_t ops_ahead, int io_threads) {
        configure(list_of<int>(workers), cores, ops_ahead, io_threads);
      },
      nb::arg("workers"), nb::arg("cores"), nb::arg("ops_ahead"), nb::arg("io_threads") = 1,
      "Waits for all work, then sets workers per device, cores in all, how many ops may be in flight, and threads per "
      "device for files.");
  m.def("set_synchronous", [](bool on) { synchronous = on; });
  m.def(
      "set_passes", [](int passes) { Engine::get().passes.set(passes); },
      "A sum of 1 (drop), 2 (fuse), 4 (reuse), 8 (at_once), 16 (apart) and 32 (compile).");
  m.def(
      "set_apart_from", [](uint32_t ns) { Engine::get().passes.set_apart_from(ns); },
      "How much an op must cost, about, to be ordered by the parts of arrays that it uses; 0: any.");
  m.def(
      "set_fuse_from", [](uint32_t ns) { Engine::get().passes.set_fuse_from(ns); },
      "How much an op must cost, about, to be worth a group; 0: any.");
  m.def(
      "cores_taken", [] { return Engine::get().introspection.cores_taken(); },
      "Whether as many kernels run as may at once.");
  m.def("ops_ahead", [] { return Engine::get().ring.ops_ahead(); });
  m.def("set_memory", set_memory, nb::arg("device"), nb::arg("budget"), nb::arg("limit"), nb::arg("io_headroom") = 0);
  m.def(
      "use_device", [](int i) { Engine::get().use_device(i); }, nb::arg("i"),
      "Makes a device that shares the cores with the others, unless it exists.");
  m.def("limit_shared_memory", limit_shared, nb::arg("budget"), nb::arg("limit"), nb::arg("io_headroom"),
        nb::arg("devices"),
        "Limits of each device that shares the cores; all together keep to those of so many devices.");
  m.def(
      "set_cache_limits", [](size_t cached, size_t total) { CachingAllocator::get().set_limits(cached, total); },
      nb::arg("cached"), nb::arg("total"),
      "Maximum bytes of cached memory, and of cached and used memory together, beyond which cached blocks are "
      "released.");
  m.def(
      "set_registered_limit", [](size_t bytes) { RegisteredBlocks::get().set_limit(bytes); }, nb::arg("bytes"),
      "Bytes of host memory that may be registered with devices, for copies.");
  m.def("granted_cores", granted_cores, nb::arg("root") = "", "root: a folder in place of /, for tests.");
  m.def("granted_memory", granted_memory, nb::arg("root") = "");
  m.def("load_blas", load_blas);
  m.def("blas_info", blas_info);
  m.def("compiler", compiler, "The compiler of this library, and its options.");
  m.def(
      "set_tile_version", [](int version) { tile_version = static_cast<TileVersion>(version); }, nb::arg("version") = 0,
      "For tests, while nothing runs: which vectors compute convolutions, pooling and products. 0: the CPU's best; 1: "
      "of 32 bytes, for CPUs that have them; 2: plain.");
  m.def(
      "set_blas_limits", [](int64_t extent, int64_t step) { blas_limits = {extent, step}; },
      nb::arg("extent") = BlasLimits{}.extent, nb::arg("step") = BlasLimits{}.step,
      "How many rows, columns and terms, and which steps, BLAS is given at once; for tests, as large ones take long.");

  m.def("set_hang_report", set_hang_report, nb::arg("seconds"),
        "After how many seconds without an end a wait reports; 0: never.");
}

}  // namespace forerun
