// The state and the counters of the engine, for Python.
#include <cstddef>
#include <vector>

#include "array/array.h"
#include "base/containers/free_list.h"
#include "base/system/memory.h"
#include "cpu/codegen/compiled_loops.h"
#include "cpu/kernels/fusion/plan_cache.h"
#include "engine/engine.h"
#include "memory/caching_allocator.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/runtime/call_sites/call_site.h"

namespace forerun {

namespace {

const char *const kStates[] = {"issued", "waiting", "ready", "running"}, *const kQueues[] = {"compute", "copy", "io"};

nb::list pending(size_t most) {
  nb::list all;
  for (const Pending& p : Engine::get().introspection.pending(most))
    all.append(nb::make_tuple(p.seq, p.name, site_tuple(p.site), kStates[static_cast<int>(p.state)], p.after, p.device,
                              kQueues[p.queue], p.needs));
  return all;
}

nb::object form_of(const DebugShape& form) {
  if (form.dtype == DebugShape::kNone || form.ndim > DebugShape::kExtents) return nb::none();
  nb::list extents;
  for (int i = 0; i < form.ndim; ++i) extents.append(form.extents[i]);
  return nb::make_tuple(nb::str(nb::handle(dtype_object(static_cast<DType>(form.dtype)))), nb::tuple(extents));
}

nb::list needed(nb::handle arrays, size_t most) {
  std::vector<const Storage*> results;
  for (const Array& a : args("graph", arrays))
    if (a.storage()) results.push_back(a.storage());
  nb::list all;
  for (const Needed& n : Engine::get().introspection.needed(results, most))
    all.append(nb::make_tuple(n.seq, n.name, site_tuple(n.site), kStates[static_cast<int>(n.state)], n.device,
                              kQueues[n.queue], n.group, n.reads, form_of(n.form)));
  return all;
}

nb::dict memory(int device) {
  MemoryBudget& b = *Engine::get().devices[device].budget;
  nb::dict d;
  d["live"] = b.live.load(), d["peak"] = b.peak.load(), d["limit"] = b.hard.load(), d["budget"] = b.soft.load();
  d["cached"] = CachingAllocator::get().cached();
  return d;
}

nb::dict stats() {
  EngineStats s = Engine::get().introspection.stats();
  nb::dict d;
  d["issued"] = s.issued, d["planned"] = s.planned, d["done"] = s.ended, d["failed"] = s.failed, d["waits"] = s.waits,
  d["helped"] = s.helped;
  d["dropped"] = s.dropped, d["groups"] = s.groups, d["grouped"] = s.grouped, d["elided"] = s.elided,
  d["reused"] = s.reused, d["at_once"] = s.at_once;
  PlanCache::Stats plans = PlanCache::get().stats();
  d["plans"] = plans.made, d["replanned"] = plans.reused;
  d["compiled"] = CompiledLoops::get().compiled();
  return d;
}

nb::dict in_use() {
  nb::dict d;
  d["storages"] = FreeList<Buffer>::in_use() - kept_with_storage(), d["ops"] = FreeList<Op>::in_use(),
  d["rooms"] = FreeList<KernelRoom>::in_use();
  d["blocks"] = CachingAllocator::get().in_use();
  return d;
}

size_t empty_cache() {
  size_t bytes = CachingAllocator::get().trim();
  trim_objects();
  FreeList<Buffer>::trim(), FreeList<Op>::trim(), FreeList<KernelRoom>::trim();
  trim_heap();
  return bytes;
}

}  // namespace

void init_introspection(Module& m) {
  m.def(
      "pending", pending, nb::arg("most"),
      "The oldest ops that have not ended: (number, name, site, state, the op waited for or 0, device, queue, bytes).");
  m.def("needed", needed, nb::arg("arrays"), nb::arg("most"),
        "The latest pending operations that the arrays need, in order: (number, name, site, state, device, queue, "
        "number of the group's first op or 0, numbers of the ops that it reads from, (dtype, shape) or None).");
  m.def("stats", stats);
  m.def("memory", memory, nb::arg("device") = 0);
  m.def("empty_cache", empty_cache,
        "Returns the memory cached for new arrays and ops to the system; returns the bytes of the blocks.");
  m.def("in_use", in_use,
        "How many objects of the core are in use: storages, ops, and the room of large kernels; bytes of blocks.");
  m.def("reset_peak", [](int device) { Engine::get().devices[device].budget->reset_peak(); }, nb::arg("device") = 0);
}

}  // namespace forerun
