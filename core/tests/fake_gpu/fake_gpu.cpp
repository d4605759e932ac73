// A plugin that behaves like a device far away, for tests: it wraps a plugin for processors, whose functions it
// mostly forwards to, but results come late, copies take time on lanes of their own, memory is bounded, and calls fail.
//
// Of the environment, when a client is made (names begin with FORERUN_FAKE_GPU_):
//   PLUGIN           the plugin below
//   EXECUTE_US       how long each execution takes, in microseconds
//   BANDWIDTH        bytes that a copy moves in a microsecond
//   PAGEABLE_BANDWIDTH   the same from and to host memory that is not registered; if unset, BANDWIDTH
//   BYTES            the memory of each client
//   REFUSE_MAP=1     no host memory can be registered
//   FAIL_COMPILE, FAIL_COPY, FAIL_EXECUTE   the number of the call, from 1, that fails
//   FAIL_LATER=1     a failing execution is handed over, and fails then
//   ORDER            "at_once": events are ready when the call returns; "reversed": those that are due are reported
//                    newest first
//
// Of the program, by functions of this library: fake_gpu_hold(), fake_gpu_lanes_at_work(), fake_gpu_log(),
// fake_gpu_registered() and fake_gpu_die().
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "events.h"
#include "registered.h"
#include "state.h"

namespace {

// Returns the end of work that begins once the lane is free and its inputs are ready.
Time occupy(Device* device, Lane lane, Time from, double us) {
  std::lock_guard lock(mutex);
  Time& free = lanes[{device, lane}];
  const Time start = std::max({free, from, Clock::now()});
  free = start + std::chrono::nanoseconds(int64_t(us * 1e3));
  log_of_work.push_back({lane, device, start, free});
  if (awaited > 0) at_work.insert({device, lane});
  changed.notify_all();
  return free;
}
size_t size_of(Buffer* buffer) {
  auto a = arguments<BufferOnDeviceSizeInBytes>();
  a.buffer = buffer;
  taken(ask(a));
  return a.on_device_size_in_bytes;
}
void hold(Buffer* buffer, Device* device, Time ready, const Failure& failure = {}) {
  const size_t bytes = size_of(buffer);
  std::lock_guard lock(mutex);
  held[buffer] = {ready, bytes, device, failure};
  used += double(bytes), peak = std::max(peak, used);
}
void release(Buffer* buffer, bool forget) {
  std::lock_guard lock(mutex);
  auto found = held.find(buffer);
  if (found == held.end()) return;
  used -= double(std::exchange(found->second.bytes, size_t{0}));
  if (forget) held.erase(found);
}
Error* refuse_memory(double bytes) {
  Failure failure;
  {
    std::lock_guard lock(mutex);
    if (used + bytes > settings.memory)
      failure = {Code::resource_exhausted,
                 "fake_gpu: out of memory: " + std::to_string(size_t(bytes)) + " bytes do not fit"};
  }
  return error_of(failure);
}
Error* refuse_lost(Device* device) {
  std::unique_lock lock(mutex);
  if (!lost.contains(device)) return nullptr;
  lock.unlock();
  return error_of({Code::internal, "fake_gpu: the device was lost"});
}
bool fails(int& count, int Settings::* which) {
  std::lock_guard lock(mutex);
  return ++count == settings.*which;
}

Error* client_create(ClientCreate* a) {
  {
    std::lock_guard lock(mutex);
    settings = {setting("EXECUTE_US", 0),
                setting("BANDWIDTH", 1e12),
                setting("PAGEABLE_BANDWIDTH", setting("BANDWIDTH", 1e12)),
                setting("BYTES", 1e18),
                int(setting("FAIL_COMPILE", 0)),
                int(setting("FAIL_COPY", 0)),
                int(setting("FAIL_EXECUTE", 0)),
                setting("FAIL_LATER", 0) != 0,
                text_setting("ORDER") == "at_once",
                text_setting("ORDER") == "reversed",
                setting("REFUSE_MAP", 0) != 0};
    compiled = copied = executed = 0, peak = used;
  }
  return ask(*a);
}
Error* platform_name(ClientPlatformName* a) {
  a->platform_name = "fake_gpu", a->platform_name_size = 8;
  return nullptr;
}
Error* memory_stats(DeviceMemoryStats* a) {
  std::lock_guard lock(mutex);
  a->bytes_in_use = int64_t(used);
  a->peak_bytes_in_use = {int64_t(peak), true};
  a->bytes_limit = {int64_t(settings.memory), true};
  return nullptr;
}
Error* compile(ClientCompile* a) {
  if (fails(compiled, &Settings::fail_compile))
    return error_of({Code::internal, "fake_gpu: this compilation was to fail"});
  return ask(*a);
}

Error* from_host(ClientBufferFromHostBuffer* a) {
  if (fails(copied, &Settings::fail_copy)) return error_of({Code::internal, "fake_gpu: this copy was to fail"});
  static constexpr int kSizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2, 8, 16};
  double bytes = kSizes[std::min<int>(int(a->type), 15)];
  for (size_t i = 0; i < a->num_dims; ++i) bytes *= double(a->dims[i]);
  if (Error* error = refuse_lost(a->device)) return error;
  if (Error* error = refuse_memory(bytes)) return error;
  a->host_buffer_semantics = HostBuffer::immutable_during_call;  // a device has memory of its own
  if (Error* error = ask(*a)) return error;
  const Time at = occupy(a->device, kIn, Time(), bytes / speed_of(a->data, size_t(bytes)));
  hold(a->buffer, a->device, at);
  a->done_with_host_buffer = event_at(a->done_with_host_buffer, at, {}, a->data);
  return nullptr;
}
Held copy_of(Buffer* buffer) {
  std::lock_guard lock(mutex);
  auto found = held.find(buffer);
  return found == held.end() ? Held{} : found->second;
}
Error* to_host(BufferToHostBuffer* a) {
  if (a->dst && fails(copied, &Settings::fail_copy))
    return error_of({Code::internal, "fake_gpu: this copy was to fail"});
  const Held source = copy_of(a->src);
  if (Error* error = refuse_lost(source.device)) return error;
  Error* error = ask(*a);
  if (error || !a->dst) return error;
  const Time at = occupy(source.device, kOut, source.ready, double(source.bytes) / speed_of(a->dst, a->dst_size));
  a->event = event_at(a->event, at, source.failure, a->dst);
  return nullptr;
}
Error* copy_across(BufferCopyToDevice* a) {
  const Held source = copy_of(a->buffer);
  for (Device* device : {source.device, a->dst_device})
    if (Error* error = refuse_lost(device)) return error;
  if (Error* error = refuse_memory(double(source.bytes))) return error;
  if (Error* error = ask(*a)) return error;
  const Time at = occupy(source.device, kAcross, source.ready, double(source.bytes) / settings.bandwidth);
  hold(a->dst_buffer, a->dst_device, at, source.failure);
  return nullptr;
}
Error* ready_event(BufferReadyEvent* a) {
  if (Error* error = ask(*a)) return error;
  const Held source = copy_of(a->buffer);
  a->event = event_at(a->event, source.ready, source.failure);
  return nullptr;
}
Error* buffer_destroy(BufferDestroy* a) {
  release(a->buffer, true);
  return ask(*a);
}
Error* buffer_delete(BufferDelete* a) {
  release(a->buffer, false);
  return ask(*a);
}

// The number of results of a module, and the bytes that they need besides donated arguments.
std::pair<size_t, double> results_of(LoadedExecutable* module) {
  auto get = arguments<LoadedExecutableGetExecutable>();
  get.loaded_executable = module, taken(ask(get));
  auto number = arguments<ExecutableNumOutputs>();
  number.executable = get.executable, taken(ask(number));
  auto memory = arguments<ExecutableGetCompiledMemoryStats>();
  memory.executable = get.executable, taken(ask(memory));
  auto drop = arguments<ExecutableDestroy>();
  drop.executable = get.executable, ask(drop);
  return {number.num_outputs, double(memory.output_size_in_bytes - memory.alias_size_in_bytes)};
}
bool was_donated(Buffer* buffer) {
  auto a = arguments<BufferIsDeleted>();
  a.buffer = buffer, taken(ask(a));
  return a.is_deleted;
}
Error* execute(LoadedExecutableExecute* a) {
  Failure failure;
  if (fails(executed, &Settings::fail_execute)) failure = {Code::internal, "fake_gpu: this execution was to fail"};
  if (failure.code != Code::ok && !settings.fail_later) return error_of(failure);
  if (Error* error = refuse_lost(a->execute_device)) return error;
  const auto [results, bytes] = results_of(a->executable);
  if (Error* error = refuse_memory(bytes)) return error;
  Time from;
  Buffer* const* inputs = a->argument_lists[0];
  for (size_t i = 0; i < a->num_args; ++i) {
    const Held input = copy_of(inputs[i]);
    from = std::max(from, input.ready);
    if (failure.code == Code::ok) failure = input.failure;
  }
  if (Error* error = ask(*a)) return error;
  for (size_t i = 0; i < a->num_args; ++i)
    if (was_donated(inputs[i])) release(inputs[i], false);
  const Time at = occupy(a->execute_device, kCompute, from, settings.execute_us);
  for (size_t i = 0; i < results; ++i) hold(a->output_lists[0][i], a->execute_device, at, failure);
  if (a->device_complete_events) a->device_complete_events[0] = event_at(a->device_complete_events[0], at, failure);
  return nullptr;
}

template <class A>
void replace(Error* (*function)(A*)) {
  own.functions[A::kSlot] = reinterpret_cast<Function>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Table* GetPjrtApi() {
  if (base) return &own;
  void* library = dlopen(text_setting("PLUGIN").c_str(), RTLD_NOW | RTLD_LOCAL);
  auto get = library ? reinterpret_cast<GetTable>(dlsym(library, "GetPjrtApi")) : nullptr;
  if (!get) return nullptr;
  base = get();
  std::memcpy(&own, base, std::min(sizeof own, base->struct_size));
  own.struct_size = std::min(sizeof own, base->struct_size);
  own.extension_start = nullptr;
  replace(error_destroy), replace(error_message), replace(error_code);
  replace(event_destroy), replace(event_ready), replace(event_await), replace(event_error), replace(event_on_ready);
  replace(client_create), replace(platform_name), replace(memory_stats), replace(compile);
  replace(from_host), replace(to_host), replace(copy_across), replace(ready_event);
  replace(buffer_destroy), replace(buffer_delete), replace(execute);
  replace(map_memory), replace(unmap_memory), replace(client_destroy);
  std::thread(tell).detach();
  return &own;
}

// From now on no end is reported before so many lanes have work at the same time.
extern "C" __attribute__((visibility("default"))) void fake_gpu_hold(size_t lanes) {
  std::lock_guard lock(mutex);
  awaited = lanes, at_work.clear();
}

// The number of lanes that had work before an end was reported.
extern "C" __attribute__((visibility("default"))) size_t fake_gpu_lanes_at_work() {
  std::lock_guard lock(mutex);
  return at_work.size();
}

// The device that was the n-th to have work, from 0, accepts no more work, and returns nothing.
extern "C" __attribute__((visibility("default"))) void fake_gpu_die(size_t n) {
  std::lock_guard lock(mutex);
  std::vector<Device*> known;
  for (const Work& work : log_of_work)
    if (std::find(known.begin(), known.end(), work.device) == known.end()) known.push_back(work.device);
  lost.insert(known.at(n));
}

// All work so far, in the order of its hand-over; a line each: the lane, the number of the device, the start (on the
// device's clock, in nanoseconds after the first) and the duration.
extern "C" __attribute__((visibility("default"))) const char* fake_gpu_log() {
  static std::string text;
  static constexpr const char* kNames[] = {"compute", "in", "out", "across"};
  std::lock_guard lock(mutex);
  text.clear();
  std::map<Device*, size_t> numbers;
  for (const Work& work : log_of_work) {
    const size_t device = numbers.emplace(work.device, numbers.size()).first->second;
    const auto since = [](Time from, Time to) { return std::to_string(std::chrono::nanoseconds(to - from).count()); };
    text += std::string(kNames[work.lane]) + ' ' + std::to_string(device) + ' ' +
            since(log_of_work.front().start, work.start) + ' ' + since(work.start, work.end) + '\n';
  }
  return text.c_str();
}
