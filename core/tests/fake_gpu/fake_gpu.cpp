// A plugin that behaves like a device far away, for tests: it wraps a plugin for processors, whose functions it
// mostly forwards to, but results come late, copies take time on lanes of their own, memory is bounded, and calls fail.
//
// Of the environment, when a client is made (names begin with FORERUN_FAKE_GPU_):
//   PLUGIN           the plugin below
//   EXECUTE_US       how long each execution takes, in microseconds
//   BANDWIDTH        bytes that a copy moves in a microsecond
//   BYTES            the memory of each client
//   FAIL_COMPILE, FAIL_COPY, FAIL_EXECUTE   the number of the call, from 1, that fails
//   FAIL_LATER=1     a failing execution is handed over, and fails then
//   ORDER            "at_once": events are ready when the call returns; "reversed": those that are due are reported
//                    newest first
//
// Of the program, by functions of this library: fake_gpu_hold(), fake_gpu_lanes_at_work(), fake_gpu_log() and
// fake_gpu_die().
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pjrt/abi.h"

namespace {

using namespace forerun::pjrt::abi;
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

const Table* base = nullptr;
Table own;

template <class A>
Error* ask(A& a) {
  return base->functions[A::kSlot](&a);
}

std::string text_setting(const char* name) {
  const char* value = std::getenv((std::string("FORERUN_FAKE_GPU_") + name).c_str());
  return value ? value : "";
}
double setting(const char* name, double otherwise) {
  const std::string text = text_setting(name);
  return text.empty() ? otherwise : std::atof(text.c_str());
}

struct Settings {
  double execute_us = 0, bandwidth = 1e12, memory = 1e18;
  int fail_compile = 0, fail_copy = 0, fail_execute = 0;
  bool fail_later = false, at_once = false, reversed = false;
};

// --- errors ----------------------------------------------------------------------------------------------------------

struct Failure {
  Code code = Code::ok;
  std::string text;
};

enum Lane { kCompute, kIn, kOut, kAcross, kLanes };
struct Held {
  Time ready;
  size_t bytes;
  Device* device;
  Failure failure;
};
// Work of a lane of a device, which takes its time; an event reports its end.
struct Work {
  int lane;
  Device* device;
  Time start, end;
};
struct Waiting {  // what the client has as an Event
  Event* inner;   // of the plugin below; may be none
  Time due;
  Failure failure;
  bool ready = false, dropped = false;
  bool told = false;  // only the client uses it from now on
  std::vector<std::pair<void (*)(Error*, void*), void*>> callbacks;
};

// These are there to the very end, as is the thread that uses them.
auto& mutex = *new std::mutex;  // guards all below
auto& changed = *new std::condition_variable;
Settings settings;
auto& lost = *new std::set<Device*>;        // those that have died
auto& errors = *new std::set<const void*>;  // of those that the client has, the ones made here
auto& due = *new std::vector<Waiting*>;     // in the order in which they were made
auto& held = *new std::map<Buffer*, Held>;
auto& lanes = *new std::map<std::pair<Device*, int>, Time>;  // when each is free
double used = 0, peak = 0;
auto& log_of_work = *new std::vector<Work>;  // in the order in which it was handed over
size_t awaited = 0;                          // so many lanes must have work at the same time before an end is reported
auto& at_work = *new std::set<std::pair<Device*, int>>;  // those that have had some since then
int compiled = 0, copied = 0, executed = 0;

Error* error_of(const Failure& failure) {
  if (failure.code == Code::ok) return nullptr;
  auto* made = new Failure(failure);
  std::lock_guard lock(mutex);
  errors.insert(made);
  return reinterpret_cast<Error*>(made);
}
const Failure* own_error(const Error* error) {
  std::lock_guard lock(mutex);
  return errors.count(error) ? reinterpret_cast<const Failure*>(error) : nullptr;
}
// Takes an error of the plugin below.
Failure taken(Error* error) {
  if (!error) return {};
  auto code = arguments<ErrorGetCode>();
  code.error = error, ask(code);
  auto text = arguments<ErrorMessage>();
  text.error = error, ask(text);
  Failure failure{code.code, std::string(text.message, text.message_size)};
  auto drop = arguments<ErrorDestroy>();
  drop.error = error, ask(drop);
  return failure;
}

Error* error_destroy(ErrorDestroy* a) {
  if (const Failure* mine = own_error(a->error)) {
    std::lock_guard lock(mutex);
    errors.erase(mine);
    delete mine;
    return nullptr;
  }
  return ask(*a);
}
Error* error_message(ErrorMessage* a) {
  const Failure* mine = own_error(a->error);
  if (!mine) return ask(*a);
  a->message = mine->text.data(), a->message_size = mine->text.size();
  return nullptr;
}
Error* error_code(ErrorGetCode* a) {
  const Failure* mine = own_error(a->error);
  if (!mine) return ask(*a);
  a->code = mine->code;
  return nullptr;
}

// --- events ----------------------------------------------------------------------------------------------------------

void finish(Waiting* event) {
  if (event->inner) {
    auto wait = arguments<EventAwait>();
    wait.event = event->inner;
    const Failure failure = taken(ask(wait));
    if (event->failure.code == Code::ok) event->failure = failure;
    auto drop = arguments<EventDestroy>();
    drop.event = event->inner, ask(drop);
  }
  std::unique_lock lock(mutex);
  event->ready = true;
  changed.notify_all();
  while (!event->callbacks.empty()) {
    auto callbacks = std::move(event->callbacks);
    event->callbacks.clear();
    const Failure failure = event->failure;
    lock.unlock();
    for (auto [call, argument] : callbacks) call(error_of(failure), argument);
    lock.lock();
  }
  event->told = true;
  if (event->dropped) delete event;
}

Event* event_at(Event* inner, Time at, const Failure& failure = {}) {
  auto* event = new Waiting{inner, at, failure, false, false, false, {}};
  std::unique_lock lock(mutex);
  if (settings.at_once) {
    lock.unlock();
    finish(event);
  } else {
    due.push_back(event);
    changed.notify_all();
  }
  return reinterpret_cast<Event*>(event);
}

// Whether ends are held back. They are reported after a while in any case: a program that waits for one fails, and does
// not hang.
bool held_back(Time oldest) {
  if (at_work.size() >= awaited || Clock::now() > oldest + std::chrono::seconds(20)) awaited = 0;
  return awaited > 0;
}

// Ends events as their times come.
void tell() {
  for (;;) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return !due.empty(); });
    const Time next =
        (*std::min_element(due.begin(), due.end(), [](auto* a, auto* b) { return a->due < b->due; }))->due;
    if (next > Clock::now()) {
      changed.wait_until(lock, next);
      continue;
    }
    if (held_back(next)) {
      changed.wait_until(lock, Clock::now() + std::chrono::milliseconds(20));
      continue;
    }
    std::vector<Waiting*> now;
    for (Waiting* event : due)
      if (event->due <= Clock::now()) now.push_back(event);
    std::erase_if(due, [&](Waiting* event) { return std::find(now.begin(), now.end(), event) != now.end(); });
    std::stable_sort(now.begin(), now.end(), [](auto* a, auto* b) { return a->due < b->due; });
    if (settings.reversed) std::reverse(now.begin(), now.end());
    lock.unlock();
    for (Waiting* event : now) finish(event);
  }
}

Waiting* waiting(Event* event) { return reinterpret_cast<Waiting*>(event); }
Error* event_destroy(EventDestroy* a) {
  std::unique_lock lock(mutex);
  Waiting* event = waiting(a->event);
  if (!event) return nullptr;
  if (event->told) {
    delete event;
  } else {
    event->dropped = true;
  }
  return nullptr;
}
Error* event_ready(EventIsReady* a) {
  std::lock_guard lock(mutex);
  a->is_ready = waiting(a->event)->ready;
  return nullptr;
}
Error* event_await(EventAwait* a) {
  Failure failure;
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting(a->event)->ready; });
    failure = waiting(a->event)->failure;
  }
  return error_of(failure);
}
Error* event_error(EventError* a) { return error_of(waiting(a->event)->failure); }
Error* event_on_ready(EventOnReady* a) {
  Waiting* event = waiting(a->event);
  std::unique_lock lock(mutex);
  if (!event->ready) {
    event->callbacks.emplace_back(a->callback, a->user_arg);
    return nullptr;
  }
  const Failure failure = event->failure;
  lock.unlock();
  a->callback(error_of(failure), a->user_arg);
  return nullptr;
}

// --- the device ------------------------------------------------------------------------------------------------------

// Returns when work ends that begins once the lane is free and its inputs are ready.
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
    settings = {
        setting("EXECUTE_US", 0),        setting("BANDWIDTH", 1e12),         setting("BYTES", 1e18),
        int(setting("FAIL_COMPILE", 0)), int(setting("FAIL_COPY", 0)),       int(setting("FAIL_EXECUTE", 0)),
        setting("FAIL_LATER", 0) != 0,   text_setting("ORDER") == "at_once", text_setting("ORDER") == "reversed"};
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
  const Time at = occupy(a->device, kIn, Time(), bytes / settings.bandwidth);
  hold(a->buffer, a->device, at);
  a->done_with_host_buffer = event_at(a->done_with_host_buffer, at);
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
  const Time at = occupy(source.device, kOut, source.ready, double(source.bytes) / settings.bandwidth);
  a->event = event_at(a->event, at, source.failure);
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

// The number of results of a module, and the bytes that they need beside donated arguments.
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
  std::thread(tell).detach();
  return &own;
}

// From now on no end is reported before so many lanes have work at the same time.
extern "C" __attribute__((visibility("default"))) void fake_gpu_hold(size_t lanes) {
  std::lock_guard lock(mutex);
  awaited = lanes, at_work.clear();
}

// How many lanes had work before an end was reported.
extern "C" __attribute__((visibility("default"))) size_t fake_gpu_lanes_at_work() {
  std::lock_guard lock(mutex);
  return at_work.size();
}

// The device that was the n-th to have work, from 0, takes no more of it, and gives nothing back.
extern "C" __attribute__((visibility("default"))) void fake_gpu_die(size_t n) {
  std::lock_guard lock(mutex);
  std::vector<Device*> known;
  for (const Work& work : log_of_work)
    if (std::find(known.begin(), known.end(), work.device) == known.end()) known.push_back(work.device);
  lost.insert(known.at(n));
}

// All work so far, in the order of its hand-over; a line each: the lane, the number of the device, the start (of the
// clock of the device, in nanoseconds after the first) and the time that it takes.
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
