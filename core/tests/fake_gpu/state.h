// The state of the device that behaves like a remote one, its settings and its errors. For fake_gpu.cpp only.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
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
  double execute_us = 0, bandwidth = 1e12, pageable_bandwidth = 1e12, memory = 1e18;
  int fail_compile = 0, fail_copy = 0, fail_execute = 0;
  bool fail_later = false, at_once = false, reversed = false, refuse_map = false;
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
// Work of a lane of a device, with a duration; an event reports its end.
struct Work {
  int lane;
  Device* device;
  Time start, end;
};
struct Waiting {  // the client's Event
  Event* inner;   // of the plugin below; may be null
  Time due;
  Failure failure;
  const char* memory = nullptr;  // of the host, used by the work before it
  bool ready = false, dropped = false;
  bool reported = false;  // only the client uses it from now on
  std::vector<std::pair<void (*)(Error*, void*), void*>> callbacks;
};

// Never destroyed, like the thread that uses them.
auto& mutex = *new std::mutex;  // guards all below
auto& changed = *new std::condition_variable;
Settings settings;
auto& lost = *new std::set<Device*>;        // lost devices
auto& errors = *new std::set<const void*>;  // of the client's errors, those made here
auto& due = *new std::vector<Waiting*>;     // in the order in which they were made
auto& held = *new std::map<Buffer*, Held>;
auto& lanes = *new std::map<std::pair<Device*, int>, Time>;  // when each is free
double used = 0, peak = 0;
auto& log_of_work = *new std::vector<Work>;  // in the order in which it was handed over
size_t awaited = 0;                          // so many lanes must have work at the same time before an end is reported
auto& at_work = *new std::set<std::pair<Device*, int>>;  // those that have had work since then
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

}  // namespace
