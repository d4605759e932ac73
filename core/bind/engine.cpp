// Set-up, waiting, statistics and events, for Python.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "base/simd_target.h"
#include "bind/gil.h"
#include "bind/glue.h"
#include "bind/hang.h"
#include "bind/hooks.h"
#include "bind/host.h"
#include "bind/site.h"
#include "cpu/blas.h"
#include "cpu/granted.h"
#include "cpu/parent.h"
#include "cpu/workers.h"
#include "kernels/group.h"
#include "kernels/matmul.h"
#include "memory/cache.h"

namespace forerun {

namespace {

nb::object site_tuple(uint32_t number) {
  Site s = site(number);
  if (!s.line) return nb::none();
  return nb::make_tuple(s.file, s.line);
}

int trace_start(nb::handle path) {
  const char* file = path.is_none() ? nullptr : nb::cast<const char*>(path);
  int error = Engine::get().introspection.record_into(file);
  if (!error) say_sites();
  return error;
}

nb::bytes trace_look() {
  std::string all = Engine::get().trace.look(Engine::get().ring.next());
  return nb::bytes(all.data(), all.size());
}

nb::bytes trace_stop() {
  std::string all = Engine::get().introspection.take_record();
  return nb::bytes(all.data(), all.size());
}

const char *const kStates[] = {"issued", "waiting", "ready", "running"}, *const kQueues[] = {"compute", "copy", "io"};

nb::list pending(size_t most) {
  nb::list all;
  for (const Pending& p : Engine::get().introspection.pending(most))
    all.append(nb::make_tuple(p.seq, p.name, site_tuple(p.site), kStates[static_cast<int>(p.state)], p.after, p.device,
                              kQueues[p.queue], p.needs));
  return all;
}

nb::object form_of(const Form& form) {
  if (form.dtype == Form::kNone || form.ndim > Form::kExtents) return nb::none();
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
  Budget& b = *Engine::get().devices[device].budget;
  nb::dict d;
  d["live"] = b.live.load(), d["peak"] = b.peak.load(), d["limit"] = b.hard.load(), d["budget"] = b.soft.load();
  d["cached"] = MemoryCache::get().cached();
  return d;
}

nb::dict stats() {
  EngineStats s = Engine::get().introspection.stats();
  nb::dict d;
  d["issued"] = s.issued, d["planned"] = s.planned, d["done"] = s.ended, d["failed"] = s.failed, d["waits"] = s.waits,
  d["helped"] = s.helped;
  d["dropped"] = s.dropped, d["groups"] = s.groups, d["grouped"] = s.grouped, d["elided"] = s.elided,
  d["reused"] = s.reused, d["at_once"] = s.at_once;
  PlanStats plans = plan_stats();
  d["plans"] = plans.made, d["replanned"] = plans.reused;
  return d;
}

nb::dict in_use() {
  nb::dict d;
  d["storages"] = FreeList<Buffer>::in_use(), d["ops"] = FreeList<Op>::in_use(),
  d["rooms"] = FreeList<KernelRoom>::in_use();
  d["blocks"] = MemoryCache::get().in_use();
  return d;
}

size_t empty_cache() {
  size_t bytes = MemoryCache::get().trim();
  trim_objects();
  FreeList<Buffer>::trim(), FreeList<Op>::trim(), FreeList<KernelRoom>::trim();
  malloc_trim(0);
  return bytes;
}

template <class F>
auto without_lock(F f) {
  Unlocked unlocked;
  return f();
}

void configure(const std::vector<int>& workers, int cores, uint64_t ops_ahead, int io_threads) {
  Door closed;
  quiesce();
  Engine::get().configure(workers, cores, io_threads);
  Engine::get().set_ops_ahead(ops_ahead);
}

void set_memory(int device, size_t budget, size_t limit, size_t aside) {
  Budget& b = *Engine::get().devices[device].budget;
  b.soft.store(budget), b.hard.store(limit), b.aside.store(aside);
}

void limit_shared(size_t budget, size_t limit, size_t aside, int devices) {
  auto of_all = [&](size_t each) {
    return each > SIZE_MAX / static_cast<size_t>(devices) ? SIZE_MAX : each * static_cast<size_t>(devices);
  };
  Engine::get().limit_shared({budget, limit, aside, of_all(budget), of_all(limit)});
}

nb::list unseen_failures() {
  FailureLog::Unseen unseen = without_lock([] { return Engine::get().failures.take_unseen(); });
  nb::list all;
  for (const FailurePtr& f : unseen.failures) all.append(nb::make_tuple(f->message, site_tuple(f->site)));
  if (unseen.unkept) all.append(nb::make_tuple(nb::none(), unseen.unkept));
  return all;
}

// --- fork ------------------------------------------------------------------------------------------------------------

// A signal handler's exception that ended the wait before a fork. Python drops what is raised there: it is raised
// behind the fork, when other functions that Python calls then have returned to the frame that forked.
PyObject *interrupted = nullptr, *forking_frame = nullptr;

bool within(PyObject* frame) {
  nb::object at = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  if (at.is(frame)) return false;
  while (at && !at.is(frame))
    at = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(at.ptr()))));
  return at.is_valid();
}

int raise_interrupted(void*) {
  if (!interrupted) return 0;
  if (within(forking_frame)) return Py_AddPendingCall(raise_interrupted, nullptr), 0;
  nb::object exception = nb::steal(std::exchange(interrupted, nullptr));
  Py_CLEAR(forking_frame);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  return -1;
}

// A process forks with all work done, and without workers. In a host task, or interrupted, it forks as it is.
void before_fork() {
  if (gave_up() || in_host_task()) return;
  close_door();
  try {
    quiesce();
  } catch (const PythonError&) {
    PyObject *type, *trace;
    PyErr_Fetch(&type, &interrupted, &trace);
    PyErr_NormalizeException(&type, &interrupted, &trace);
    Py_XDECREF(type), Py_XDECREF(trace);
    Py_XSETREF(forking_frame, Py_XNewRef(reinterpret_cast<PyObject*>(PyEval_GetFrame())));
  }
}

void after_fork(bool child) {
  open_door();
  Engine& engine = Engine::get();
  if (child && engine.lost()) give_up("a child of a process that forked before the work had ended");
  if (child) engine.failures.take_unseen();  // the parent tells them
  if (interrupted) Py_AddPendingCall(raise_interrupted, nullptr);
}

// --- exit ------------------------------------------------------------------------------------------------------------

// What the process ends with, instead of success; and whether work was given up, which may still go on and keeps the
// C++ world in use.
int exit_status = 0;

void at_exit(int status, void*) {
  if (status == 0) status = exit_status;
  if (gave_up() && !Engine::get().lost()) {
    std::fflush(nullptr);
    _exit(status);
  }
  if (status && status == std::exchange(exit_status, 0)) std::exit(status);  // the remaining handlers follow
}

// Work that is issued later is done by the thread that issues it.
void finish() {
  configure(std::vector<int>(static_cast<size_t>(Engine::get().devices.size()), 0), 1, Engine::get().ring.ops_ahead(),
            0);
  synchronous = true;
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

void init_engine(nb::module_& m) {
#ifdef __GLIBC__
  on_exit(at_exit, nullptr);
#endif
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
      "A sum of 1 (drop), 2 (fuse), 4 (reuse), 8 (at_once) and 16 (apart).");
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
  m.def("set_memory", set_memory, nb::arg("device"), nb::arg("budget"), nb::arg("limit"), nb::arg("aside") = 0);
  m.def(
      "use_device", [](int i) { Engine::get().use_device(i); }, nb::arg("i"),
      "Makes a device that shares the cores with the others, unless it is there.");
  m.def("limit_shared_memory", limit_shared, nb::arg("budget"), nb::arg("limit"), nb::arg("aside"), nb::arg("devices"),
        "Limits of each device that shares the cores; all together keep to those of so many devices.");
  m.def(
      "set_cache_limits", [](size_t cached, size_t total) { MemoryCache::get().set_limits(cached, total); },
      nb::arg("cached"), nb::arg("total"),
      "Bytes that are kept for the next array at most, and bytes that these and the arrays' blocks may take together "
      "before some are given back.");
  m.def("granted_cores", granted_cores, nb::arg("root") = "", "root: a folder that stands for / in a test.");
  m.def("granted_memory", granted_memory, nb::arg("root") = "");
  m.def("load_blas", load_blas);
  m.def("blas_info", blas_info);
  m.def("compiler", compiler, "What built this library, and how.");
  m.def(
      "set_tile_version", [](int version) { tile_version = static_cast<TileVersion>(version); }, nb::arg("version") = 0,
      "For tests, while nothing runs: which vectors compute convolutions, pooling and products. 0: the CPU's best; 1: "
      "of 32 bytes, for CPUs that have them; 2: plain.");
  m.def(
      "set_blas_limits", [](int64_t extent, int64_t step) { blas_limits = {extent, step}; },
      nb::arg("extent") = BlasLimits{}.extent, nb::arg("step") = BlasLimits{}.step,
      "How many rows, columns and terms, and which steps, BLAS is given at once; for tests, as large ones take long.");

  m.def(
      "wait", [](nb::handle arrays) { wait_for(args("wait", arrays)); },
      "Waits for several arrays; several failures are raised as a group.");
  m.def(
      "wait_until_written", [](nb::handle array) { wait_until_written(arg("wait", array)); },
      "Waits for an array whose values make no difference, also while a program is recorded.");
  m.def("waitall", [] { wait_all(Engine::get().ring.next()); });
  m.def(
      "waitall_at_end",
      [](bool raises) { (raises ? wait_all : wait_mark)(Engine::get().ring.next(), "end of the recording"); },
      nb::arg("raises") = true,
      "The same, as a part of the recording and not of the program; without `raises`, failures stay unseen.");
  m.def("mark", [] { return Engine::get().ring.next(); }, "Number of the next op.");
  m.def("wait_mark", [](uint64_t mark) { wait_mark(mark); }, "Waits for all ops issued before a mark.");
  m.def("waitall_before", [](uint64_t mark) { wait_all(mark); }, "The same, and raises failures that nobody has seen.");
  m.def(
      "gate", [](bool closed) { without_lock([&] { Engine::get().gate(closed); }); },
      "Closed: nothing is planned or started.");
  m.def("quiesce", quiesce, "Waits for all work and ends the workers; they start again with the next op.");
  m.def("end_with_process", end_with_process, nb::arg("process"), nb::arg("is_parent"),
        "This process ends when that one has ended, whatever it does then. False: there is no thread to see to that.");
  m.def("before_fork", before_fork);
  m.def("after_fork", after_fork);
  m.def("finish", finish, "Waits for all work; what is issued later runs in the thread that issues it.");
  m.def("give_up", [] { give_up("an interrupted wait for it at exit"); }, "Nothing will be waited for any more.");
  m.def("gave_up", gave_up);
  m.def(
      "set_exit_status", [](int status) { exit_status = status; },
      "What the process ends with if it would end in success.");
  m.def("unseen_failures", unseen_failures,
        "Failures that nobody has seen, as (message, site), at the end perhaps (None, how many more); they count as "
        "seen then.");

  m.def("set_hang_report", set_hang_report, nb::arg("seconds"),
        "After how many seconds without an end a wait reports; 0: never.");
  m.def(
      "pending", pending, nb::arg("most"),
      "The oldest ops that have not ended: (number, name, site, state, the op waited for or 0, device, queue, bytes).");
  m.def("needed", needed, nb::arg("arrays"), nb::arg("most"),
        "What has not ended and the arrays need, the latest ops, in order: (number, name, site, state, device, queue, "
        "number of the group's first op or 0, numbers of the ops that it reads from, (dtype, shape) or None).");
  m.def("stats", stats);
  m.def("memory", memory, nb::arg("device") = 0);
  m.def("empty_cache", empty_cache,
        "Gives what is kept for the next arrays and ops back to the system; how many bytes of blocks that was.");
  m.def("in_use", in_use,
        "How many objects of the core are in use: storages, ops, and the room of large kernels; bytes of blocks.");
  m.def("reset_peak", [](int device) { Engine::get().devices[device].budget->reset_peak(); }, nb::arg("device") = 0);
  m.def("trace_start", trace_start, nb::arg("path") = nb::none(),
        "Begins to record, into a file if there is one; returns 0 or an errno.");
  m.def("trace_say",
        [](const char* kind, uint64_t number, const char* text) { Engine::get().trace.say(*kind, number, text); });
  m.def(
      "set_trace_apart", [](uint64_t ticks) { return std::exchange(Engine::get().trace.apart, ticks); },
      "For tests: see Trace::apart. Returns what it was.");
  m.def("trace_look", trace_look, "What was recorded until now.");
  m.def("trace_stop", trace_stop,
        "Ends the recording; what was recorded (core/trace/record.h). Empty: nothing was being recorded.");
  m.def("current_site", [] { return site_tuple(current_site()); });
}

namespace {
std::set<std::string> names;  // guarded by the interpreter lock
}

const char* intern(const char* name) { return names.insert(name).first->c_str(); }

const char* intern_some(const char* name) {
  constexpr size_t kMost = 1 << 16;
  if (names.size() < kMost) return intern(name);
  auto known = names.find(name);
  return known == names.end() ? "one of many" : known->c_str();
}

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

int normal_axis(const char* op, int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim)
    throw Error(ErrorKind::index, std::string(op) + ": axis must be in [" + std::to_string(-ndim) + ", " +
                                      std::to_string(ndim) + "), got " + std::to_string(axis));
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

}  // namespace forerun
