// A front end for programs on two simple devices: arrays, operations with and without code on a device, and their
// values.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "accelerators/simple_device.h"
#include "array/array.h"
#include "capture/captured_program.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/elementwise/elementwise.h"
#include "cpu/threads.h"
#include "placement/placement.h"
#include "program.h"

namespace forerun::test {

constexpr int kHost = 0, kFirst = 5, kSecond = 6;  // numbers of devices
constexpr size_t kPlenty = size_t{1} << 30;
inline thread_local Recording* recording = nullptr;

struct Counts {
  std::atomic<int> on_host{0}, on_device{0};
};
inline Counts placed;

inline void submit(Op* op, int device, Queue::Kind kind, int memory) {
  InEngine entered;
  Engine& engine = Engine::get();
  while (engine.ring.full()) engine.waiter.make_room(std::chrono::milliseconds(50));
  engine.use_device(device);
  op->queue = engine.devices[device].queues()[static_cast<size_t>(kind)];
  op->budget = engine.devices[memory].budget.get();
  check(kind != Queue::Kind::copy || !op->is_task(), "how long a copy takes is known");
  if (recording) recording->add(*op);
  engine.issue(op);
}

// Submits an op that `build` fills.
template <class F>
void issue(int device, F build, Queue::Kind kind = Queue::Kind::compute) {
  Op* op = Engine::get().make_op();
  try {
    build(*op);
  } catch (...) {
    Engine::get().discard(op);
    throw;
  }
  if (kind == Queue::Kind::compute && place_again(*op, device)) {
    ++placed.on_device;
    return submit(op, device, kind, device);
  }
  const Placed how = place(op, device, kind, submit);
  if (how == Placed::as_it_is) return submit(op, device, kind, device);
  ++(how == Placed::on_host ? placed.on_host : placed.on_device);
}

inline MemoryBudget* budget_of(int device) { return Engine::get().devices[device].budget.get(); }
inline int device_of(const Array& array) { return array.storage()->budget->device; }

inline void copy(const Array& from, const Array& to) {
  issue(device_of(to), [&](Op& op) { build_copy(op, from, to); }, Queue::Kind::copy);
}
// The values of an array, once they are computed; the failure, or "".
inline std::string text_of(const Array& array, std::vector<char>& values) {
  Array here = array;
  if (budget_of(device_of(array))->accelerator || !array.covers_storage()) {
    here = Array::make(array.layout.dtype, array.layout.shape, budget_of(kHost));
    issue(kHost, [&](Op& op) { build_copy(op, array, here); }, Queue::Kind::copy);
  }
  wait_for(*here.storage());
  if (here.storage()->failure) return here.storage()->failure->message;
  values.assign(here.storage()->data(), here.storage()->data() + here.storage()->bytes);
  return "";
}

// Two devices, in use while this lives.
struct TwoDevices {
  explicit TwoDevices(const std::vector<int>& workers = {2}, size_t memory = kPlenty, size_t really = kPlenty)
      : first("simple(0)", really), second("simple(1)", really) {
    wait_all();
    stop_workers();
    Engine& engine = Engine::get();
    engine.set_accelerator(kFirst, first, first, first, memory);
    engine.set_accelerator(kSecond, second, second, second, memory);
    engine.configure(workers, 3);
    engine.use_device(kFirst), engine.use_device(kSecond);
    engine.failures.take_unseen();
  }
  ~TwoDevices() {
    wait_all();
    stop_workers();
    Engine::get().failures.take_unseen();
    for (int device : {kHost, kFirst, kSecond}) {
      MemoryBudget& budget = *budget_of(device);
      check(budget.live == 0 && budget.reserved == 0 && budget.running == 0, "all memory of a device has come back");
    }
    check(first.used == 0 && second.used == 0, "the devices have got their memory back");
  }
  SimpleDevice first, second;
};

// --- operations ------------------------------------------------------------------------------------------------------

template <class T, class F>
void each(char** args, const intptr_t* n, const intptr_t* steps, F f) {
  for (intptr_t i = 0; i < *n; ++i) {
    T a, b;
    std::memcpy(&a, args[0] + i * steps[0], 8), std::memcpy(&b, args[1] + i * steps[1], 8);
    const T y = f(a, b);
    std::memcpy(args[2] + i * steps[2], &y, 8);
  }
}
// One kernel for floating-point numbers, and one for integers. The last two have no code on a device.
template <class T>
T value_of(char sign, T a, T b) {
  switch (sign) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case 's': return a + b * 2;
    default:
      if (static_cast<int64_t>(static_cast<uint64_t>(a) % 97) == 5)
        throw Error(ErrorKind::value, "checked: must not be 5, got " + std::to_string(a));
      return a - b;
  }
}
template <char sign, class T>
void loop_of(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  each<T>(args, n, steps, [](T a, T b) { return value_of(sign, a, b); });
}
struct Function {
  char sign;
  const char* name;
  Loop f64, i64;
};
template <char sign>
Function function(const char* name) {
  const bool throws = sign == 'c';
  return {
      sign, name, {loop_of<sign, double>, nullptr, false, throws}, {loop_of<sign, uint64_t>, nullptr, false, throws}};
}
inline const Function kAdd = function<'+'>("add"), kSubtract = function<'-'>("subtract"),
                      kMultiply = function<'*'>("multiply"), kScaled = function<'s'>("scaled"),
                      kChecked = function<'c'>("checked");
inline const Function* const kFunctions[] = {&kAdd, &kSubtract, &kMultiply, &kScaled, &kChecked};

inline Scalar scalar_of(DType dtype, int64_t value) {
  Scalar made{};
  const auto number = static_cast<double>(value);
  dtype == DType::f64 ? std::memcpy(made.bytes, &number, 8) : std::memcpy(made.bytes, &value, 8);
  return made;
}

// out = f(a, b), or with a scalar in place of b.
inline void compute(const Function& f, int device, const Array& a, const Array* b, Scalar scalar, const Array& out) {
  const DType t = out.layout.dtype, types[] = {t, t, t};
  const Operand inputs[] = {{&a, {}}, {b, scalar}};
  const Array* outputs[] = {&out};
  const Loop loop = t == DType::f64 ? f.f64 : f.i64;
  issue(device, [&](Op& op) { build_elementwise(op, f.name, loop, types, inputs, 2, outputs, 1); });
}
inline void fill(const Array& to, int64_t value) {
  issue(device_of(to), [&](Op& op) { build_fill(op, scalar_of(to.layout.dtype, value), to); });
}
inline Array filled(int device, const Dims& shape, int64_t value, DType dtype = DType::i64) {
  Array made = Array::make(dtype, shape, budget_of(device));
  fill(made, value);
  return made;
}
inline void add_number(const Array& to, int64_t value) {
  compute(kAdd, device_of(to), to, nullptr, scalar_of(to.layout.dtype, value), to);
}
inline std::vector<int64_t> numbers(const Array& array) {
  std::vector<char> bytes;
  const std::string failure = text_of(array, bytes);
  check(failure.empty(), "good values, got: " + failure);
  std::vector<int64_t> all(bytes.size() / 8);
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}
inline std::string failure_of(const Array& array) {
  std::vector<char> bytes;
  return text_of(array, bytes);
}
inline bool all_are(const std::vector<int64_t>& values, int64_t value) {
  return !values.empty() && std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
}
inline Array part(const Array& of, int64_t from, int64_t to) {
  Layout view = Layout::dense(of.layout.dtype, Dims{to - from});
  view.offset = of.layout.offset + from * 8;
  return Array(of.storage(), view);
}

// Workers of the CPU, while this lives.
struct Workers {
  Workers() {
    use_cpu_workers(Engine::get());
    Engine::get().configure({2}, 3);
  }
  ~Workers() {
    wait_all();
    stop_workers();
  }
};

}  // namespace forerun::test
