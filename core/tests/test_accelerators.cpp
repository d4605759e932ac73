// Devices with memory of their own: operations are placed on them, or on the host between copies, and values and
// failures are those of the same program on the host. `test_accelerators [steps]`.
#include "calculation.h"
#include "capture/captured_program.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/copy/zeros.h"
#include "cpu/threads.h"
#include "placement/placement.h"
#include "simple_device/simple_device.h"

#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>

using namespace forerun;
using namespace forerun::test;

namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kForks = false;  // ThreadSanitizer does not follow threads of a child
#else
constexpr bool kForks = true;
#endif

constexpr int kHost = 0, kFirst = 5, kSecond = 6;  // numbers of devices
constexpr size_t kPlenty = size_t{1} << 30;
thread_local Recording* recording = nullptr;
thread_local bool synchronous = false;  // each operation is waited for, and throws what has failed

// --- a front end -----------------------------------------------------------------------------------------------------

struct Counts {
  std::atomic<int> on_host{0}, on_device{0};
} placed;

void submit(Op* op, int device, Queue::Kind kind, int memory) {
  InEngine entered;
  Engine& engine = Engine::get();
  while (engine.ring.full()) engine.waiter.make_room(std::chrono::milliseconds(50));
  engine.use_device(device);
  op->queue = engine.devices[device].queues()[static_cast<size_t>(kind)];
  op->budget = engine.devices[memory].budget.get();
  check(kind != Queue::Kind::copy || !op->is_task(), "how long a copy takes is known");
  if (recording) recording->add(*op);
  std::vector<Array> written;
  for (int i = 0; i < op->n_access && synchronous; ++i)
    if (op->access(i).mode != Mode::read) written.emplace_back(static_cast<Buffer*>(op->access(i).storage), Layout());
  engine.issue(op);
  for (const Array& array : written) {
    wait_for(*array.storage());
    if (const FailurePtr& failure = array.storage()->failure) throw Error(failure->kind, failure->message);
  }
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
  const Placed how = place(op, device, kind, submit);
  if (how == Placed::as_it_is) return submit(op, device, kind, device);
  ++(how == Placed::on_host ? placed.on_host : placed.on_device);
}

MemoryBudget* budget_of(int device) { return Engine::get().devices[device].budget.get(); }
int device_of(const Array& array) { return array.storage()->budget->device; }

void copy(const Array& from, const Array& to) {
  issue(device_of(to), [&](Op& op) { build_copy(op, from, to); }, Queue::Kind::copy);
}
// The values of an array, once they are computed; the failure, or "".
std::string text_of(const Array& array, std::vector<char>& values) {
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
// One for floating-point numbers, and one for integers. The last two have no code on a device.
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
const Function kAdd = function<'+'>("add"), kSubtract = function<'-'>("subtract"),
               kMultiply = function<'*'>("multiply"), kScaled = function<'s'>("scaled"),
               kChecked = function<'c'>("checked");
const Function* const kFunctions[] = {&kAdd, &kSubtract, &kMultiply, &kScaled, &kChecked};

Scalar scalar_of(DType dtype, int64_t value) {
  Scalar made{};
  const auto number = static_cast<double>(value);
  dtype == DType::f64 ? std::memcpy(made.bytes, &number, 8) : std::memcpy(made.bytes, &value, 8);
  return made;
}

// out = f(a, b), or with a scalar in place of b.
void compute(const Function& f, int device, const Array& a, const Array* b, Scalar scalar, const Array& out) {
  const DType t = out.layout.dtype, types[] = {t, t, t};
  const Operand inputs[] = {{&a, {}}, {b, scalar}};
  const Array* outputs[] = {&out};
  const Loop loop = t == DType::f64 ? f.f64 : f.i64;
  issue(device, [&](Op& op) { build_elementwise(op, f.name, loop, types, inputs, 2, outputs, 1); });
}
void fill(const Array& to, int64_t value) {
  issue(device_of(to), [&](Op& op) { build_fill(op, scalar_of(to.layout.dtype, value), to); });
}
Array filled(int device, const Dims& shape, int64_t value, DType dtype = DType::i64) {
  Array made = Array::make(dtype, shape, budget_of(device));
  fill(made, value);
  return made;
}
void add_number(const Array& to, int64_t value) {
  compute(kAdd, device_of(to), to, nullptr, scalar_of(to.layout.dtype, value), to);
}
std::vector<int64_t> numbers(const Array& array) {
  std::vector<char> bytes;
  const std::string failure = text_of(array, bytes);
  check(failure.empty(), "good values, got: " + failure);
  std::vector<int64_t> all(bytes.size() / 8);
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}
std::string failure_of(const Array& array) {
  std::vector<char> bytes;
  return text_of(array, bytes);
}
bool all_are(const std::vector<int64_t>& values, int64_t value) {
  return !values.empty() && std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
}
Array part(const Array& of, int64_t from, int64_t to) {
  Layout view = Layout::dense(of.layout.dtype, Dims{to - from});
  view.offset = of.layout.offset + from * 8;
  return Array(of.storage(), view);
}

// --- random programs -------------------------------------------------------------------------------------------------

// The same program for the same seed, wherever its arrays are: in the memory of the host, or of devices. It is executed
// in order beside.
class Run {
  static constexpr size_t kSlots = 9;
  struct Slot {
    Array array;
    std::vector<char> values;
    std::string failure;
    uint64_t failed = 0;  // which failure of the program that is
  };

 public:
  Run(uint32_t seed, std::vector<int> devices) : random_(seed), devices_(std::move(devices)) {
    for (Slot& slot : slots_) renew(slot);
  }

  // `held`: nothing runs now, so there is nothing to wait for.
  void step(bool held = false) {
    Slot &out = slots_[pick()], &a = slots_[pick()], &b = slots_[pick()];
    const uint32_t what = draw() % 24, more = draw();
    if (what == 0) return renew(out);
    if (what == 1) return held ? void() : check_one(out);
    if (what <= 4) return through_view(*kFunctions[more % 4], a, b);
    if (what <= 6) return move(out, a, more);
    if (what <= 8) return assign(a, b);
    if (what == 9) return reduce(out, a, more);
    if (what == 10) {
      Slot wasted;  // never read
      return binary(kAdd, wasted, a, a), through_view(kScaled, wasted, wasted);
    }
    const Function& f = *kFunctions[more % 40 == 0 ? 4 : more % 4];
    what < 18 ? binary(f, out, a, b) : update(f, a, b, more % 8 == 1);
  }
  void check_one(const Slot& slot);
  void check_all() {
    for (const Slot& slot : slots_) check_one(slot);
  }
  // All values and failures.
  std::vector<std::string> results() {
    std::vector<std::string> all;
    for (const Slot& slot : slots_) {
      std::vector<char> values;
      const std::string failure = text_of(slot.array, values);
      all.push_back(failure.empty() ? std::string(values.begin(), values.end()) : failure);
    }
    return all;
  }

 private:
  uint32_t draw() { return static_cast<uint32_t>(random_()); }
  size_t pick() { return draw() % kSlots; }
  int any_device() {
    const uint32_t drawn = draw();
    return devices_[drawn % devices_.size()];
  }
  Array make(DType dtype, const Dims& shape) {
    const int device = any_device();
    InEngine entered;
    return Array::make(dtype, shape, budget_of(device));
  }
  Slot made(DType dtype, const Dims& shape) {
    Slot slot{make(dtype, shape), {}, "", 0};
    slot.values.resize(slot.array.storage()->bytes);
    return slot;
  }
  // The failure of an operation with these operands; true: it has one.
  static bool inherit(Slot& out, std::initializer_list<const Slot*> operands) {
    std::string failure;
    uint64_t failed = 0;
    for (const Slot* slot : operands)
      if (!slot->failure.empty() && (failure.empty() || slot->failed < failed))
        failure = slot->failure, failed = slot->failed;
    out.failure = failure, out.failed = failed;
    return !failure.empty();
  }
  // out = f(a, b) in order. `b` null: a scalar.
  void execute(const Function& f, Slot& out, const Layout& to, const std::vector<char>& a, const Layout& of_a,
               const std::vector<char>* b, const Layout& of_b, Scalar scalar) {
    auto go = [&]<class T>(T) {
      for (int64_t i = 0; i < to.size; ++i) {
        T x, y;
        std::memcpy(&x, a.data() + offset(of_a, i), 8);
        std::memcpy(&y, b ? b->data() + offset(of_b, i) : reinterpret_cast<char*>(scalar.bytes), 8);
        const T z = value_of(f.sign, x, y);
        std::memcpy(out.values.data() + offset(to, i), &z, 8);
      }
    };
    try {
      to.dtype == DType::f64 ? go(double()) : go(uint64_t());
    } catch (const Error& error) {
      out.failure = error.what(), out.failed = ++failures_;
    }
  }

  void renew(Slot& slot) {
    static constexpr int64_t kShapes[][2] = {{1, 1}, {3, 5}, {8, 8}, {20, 7}, {40, 33}, {0, 4}};
    const auto& shape = kShapes[draw() % 6];
    Slot fresh = made(draw() % 2 ? DType::f64 : DType::i64, Dims{shape[0], shape[1]});
    const int64_t value = draw() % 1000;
    const uint32_t how = draw() % 4;
    const Scalar scalar = scalar_of(fresh.array.layout.dtype, how == 0 ? 0 : value);
    for (size_t i = 0; i < fresh.values.size(); i += 8) std::memcpy(&fresh.values[i], scalar.bytes, 8);
    if (how == 0)
      issue(device_of(fresh.array), [&](Op& op) { build_zeros(op, fresh.array); });
    else
      fill(fresh.array, value);
    if (how == 1) {  // values that differ, by rows and by halves of rows
      Array view = fresh.array;
      for (int64_t row = 0; row < shape[0]; row += 3) {
        view.layout = strided(view.layout.dtype, Dims{shape[1] / 2 + 1}, Dims{8}, row * shape[1] * 8);
        fill(view, value + row);
        const Scalar here = scalar_of(view.layout.dtype, value + row);
        for (int64_t i = 0; i < view.layout.size; ++i)
          std::memcpy(&fresh.values[static_cast<size_t>(offset(view.layout, i))], here.bytes, 8);
      }
    }
    slot = std::move(fresh);
  }

  // Floating-point numbers are multiplied by one half alone, so that they stay finite.
  static bool fits(const Function& f, const Slot& a) { return f.sign != '*' || a.array.layout.dtype == DType::i64; }
  static bool alike(const Slot& a, const Slot& b) {
    return a.array.layout.shape == b.array.layout.shape && a.array.layout.dtype == b.array.layout.dtype;
  }

  void binary(const Function& f, Slot& out, const Slot& a, const Slot& b) {
    if (!alike(a, b) || !fits(f, a)) return;
    const Layout dense = Layout::dense(a.array.layout.dtype, a.array.layout.shape);
    Slot fresh = made(dense.dtype, dense.shape);
    compute(f, device_of(fresh.array), a.array, &b.array, {}, fresh.array);
    if (!inherit(fresh, {&a, &b})) execute(f, fresh, dense, a.values, dense, &b.values, dense, {});
    out = std::move(fresh);
  }
  void update(const Function& f, Slot& a, const Slot& b, bool by_number) {
    if (!by_number && (!alike(a, b) || !fits(f, a))) return;
    const Layout dense = a.array.layout;
    const bool half = !fits(f, a);
    const Scalar scalar = scalar_of(dense.dtype, half ? 0 : 3);
    compute(f, device_of(a.array), a.array, by_number ? nullptr : &b.array, scalar, a.array);
    const std::vector<char> before = a.values, other = b.values;
    if (!inherit(a, {&a, by_number ? &a : &b}))
      execute(f, a, dense, before, dense, by_number ? nullptr : &other, dense, scalar);
  }

  // A view of some rows and columns, from either end; and one of as many in another array.
  std::optional<std::pair<Layout, Layout>> views(const Slot& a, const Slot& b) {
    const Dims &sa = a.array.layout.shape, &sb = b.array.layout.shape;
    const uint32_t drawn[6] = {draw(), draw(), draw(), draw(), draw(), draw()};
    if (a.array.layout.dtype != b.array.layout.dtype) return std::nullopt;
    Dims shape(2);
    for (int axis = 0; axis < 2; ++axis) {
      const int64_t most = std::min(sa[axis], sb[axis]);
      if (most == 0) return std::nullopt;
      shape[axis] = 1 + drawn[axis] % ((most + 1) / 2);
    }
    auto view = [&](const Dims& of, uint32_t drawn) {
      Dims strides(2);
      int64_t offset = 0, pitch[2] = {of[1] * 8, 8};
      for (int axis = 0; axis < 2; ++axis, drawn /= 16) {
        const int64_t step = (of[axis] - 1) / std::max<int64_t>(1, shape[axis] - 1) >= 2 && drawn % 2 ? 2 : 1;
        const int64_t span = (shape[axis] - 1) * step, first = drawn / 4 % (of[axis] - span);
        const bool back = drawn / 2 % 2;
        strides[axis] = (back ? -step : step) * pitch[axis];
        offset += (back ? first + span : first) * pitch[axis];
      }
      return strided(a.array.layout.dtype, shape, strides, offset);
    };
    return std::pair{view(sa, drawn[2]), view(sb, drawn[3])};
  }
  // Where a part would fail, more may fail on a device than on the host: such steps are left out.
  static bool sound(const Slot& a, const Slot& b) { return a.failure.empty() && b.failure.empty(); }
  void through_view(const Function& f, Slot& a, Slot& b) {
    auto found = views(a, b);
    if (!found || !sound(a, b) || !fits(f, a)) return;
    const Array target(a.array.storage(), found->first), source(b.array.storage(), found->second);
    compute(f, device_of(a.array), target, &source, {}, target);
    const std::vector<char> before = a.values, other = b.values;
    execute(f, a, target.layout, before, target.layout, &other, source.layout, {});
  }
  void assign(Slot& a, Slot& b) {
    auto found = views(a, b);
    if (!found || !sound(a, b)) return;
    const Array target(a.array.storage(), found->first), source(b.array.storage(), found->second);
    copy(source, target);
    const std::vector<char> other = b.values;
    for (int64_t i = 0; i < target.layout.size; ++i)
      std::memcpy(&a.values[static_cast<size_t>(offset(target.layout, i))],
                  &other[static_cast<size_t>(offset(source.layout, i))], 8);
  }
  // To another memory perhaps, transposed perhaps, as another dtype perhaps.
  void move(Slot& out, const Slot& a, uint32_t more) {
    Layout from = a.array.layout;
    if (more % 3 == 0) std::swap(from.shape[0], from.shape[1]), std::swap(from.strides[0], from.strides[1]);
    const bool casts = more % 4 == 0 && from.dtype == DType::i64;
    Slot fresh = made(casts ? DType::f64 : from.dtype, from.shape);
    copy(Array(a.array.storage(), from), fresh.array);
    inherit(fresh, {&a});
    for (int64_t i = 0; i < from.size && fresh.failure.empty(); ++i) {
      int64_t value;
      std::memcpy(&value, &a.values[static_cast<size_t>(offset(from, i))], 8);
      const auto number = static_cast<double>(value);
      std::memcpy(&fresh.values[static_cast<size_t>(8 * i)], casts ? static_cast<const void*>(&number) : &value, 8);
    }
    out = std::move(fresh);
  }
  void reduce(Slot& out, const Slot& from, uint32_t more) {
    if (from.array.layout.dtype != DType::i64) return;  // the order of sums is the kernel's affair
    const bool rows = more % 2, reduced[] = {!rows, rows};
    const Dims& shape = from.array.layout.shape;
    Slot fresh = made(DType::i64, rows ? Dims{shape[0], 1} : Dims{1, shape[1]});
    Layout kept = Layout::dense(DType::i64, Dims{rows ? shape[0] : shape[1]});
    Scalar zero{};
    issue(device_of(fresh.array), [&](Op& op) {
      build_reduce(op, {"add", "sum", kAdd.i64}, from.array, reduced, &zero, &zero, Array(fresh.array.storage(), kept));
    });
    inherit(fresh, {&from});
    for (int64_t r = 0; r < shape[0] && fresh.failure.empty(); ++r)
      for (int64_t c = 0; c < shape[1]; ++c) {
        uint64_t sum, value;
        char* at = &fresh.values[static_cast<size_t>(8 * (rows ? r : c))];
        std::memcpy(&sum, at, 8), std::memcpy(&value, &from.values[static_cast<size_t>(8 * (r * shape[1] + c))], 8);
        sum += value;
        std::memcpy(at, &sum, 8);
      }
    out = std::move(fresh);
  }

  std::mt19937 random_;
  const std::vector<int> devices_;
  uint64_t failures_ = 0;
  Slot slots_[kSlots];
};

void Run::check_one(const Slot& slot) {
  std::vector<char> values;
  const std::string failure = text_of(slot.array, values);
  check(failure == slot.failure, "failure: got '" + failure + "' instead of '" + slot.failure + "'");
  if (failure.empty())
    check(values == slot.values, "values of an array of device " + std::to_string(device_of(slot.array)));
}

std::vector<std::string> results_of(uint32_t seed, const std::vector<int>& devices, int steps) {
  Run run(seed, devices);
  for (int i = 0; i < steps; ++i) {
    const bool held = i % 100 >= 60;  // until some are issued
    if (i % 100 == 60 || i % 100 == 0) Engine::get().gate(held);
    run.step(held);
  }
  Engine::get().gate(false);
  run.check_all();
  return run.results();
}

void results_are_those_of_the_host(const std::vector<int>& workers, int steps) {
  for (uint32_t seed = 0; seed < (kSanitized ? 6 : 20); ++seed) {
    TwoDevices devices(workers);
    devices.second.reaches_others = seed % 2 == 0;
    const auto expected = results_of(seed, {kHost}, steps);
    check(devices.first.done == 0, "the host's programs use no device");
    for (const std::vector<int>& where : {std::vector<int>{kFirst}, {kHost, kFirst, kSecond}})
      check(results_of(seed, where, steps) == expected, "results are those of the host, bit for bit");
    check(placed.on_host > 0 && placed.on_device > 0 && devices.first.lowered > 0, "operations ran on both sides");
  }
}

void several_threads_submit(int steps) {
  TwoDevices devices;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 3; ++t)
    threads.emplace_back([=] {
      Run run(100 + t, {kHost, kFirst, kSecond});
      for (int i = 0; i < steps; ++i) run.step();
      run.check_all();
    });
  for (std::thread& thread : threads) thread.join();
}

// --- copies ----------------------------------------------------------------------------------------------------------

// The copies of an operation without code on the device: of its operands, once, and of its results.
void the_host_has_what_it_reads_and_gives_back_what_it_writes() {
  TwoDevices devices;
  SimpleDevice& device = devices.first;
  {
    const Array a = filled(kFirst, {50, 4}, 3), out = Array::make(DType::i64, {50, 4}, budget_of(kFirst));
    check(device.uploads == 0 && device.downloads == 0, "what has code is not copied");
    compute(kScaled, kFirst, a, &a, {}, out);
    check(all_are(numbers(out), 9), "values");
    check(device.downloads == 2 && device.uploads == 1, "one operand there, and the look; the result back");
    compute(kScaled, kFirst, out, &a, {}, out);
    check(all_are(numbers(out), 15) && all_are(numbers(a), 3), "values of an update");
    check(device.downloads == 6 && device.uploads == 2, "an update reads what it writes");
  }
}

void an_operation_reads_arrays_of_two_devices() {
  TwoDevices devices;
  for (const Function* f : {&kAdd, &kScaled}) {
    const Array a = filled(kFirst, {100}, 3), b = filled(kSecond, {100}, 4), c = filled(kHost, {100}, 5);
    const int64_t expected = f == &kAdd ? 7 : 11;
    for (int device : {kHost, kFirst, kSecond}) {
      const Array out = Array::make(DType::i64, {100}, budget_of(device));
      compute(*f, device, a, &b, {}, out);
      check(all_are(numbers(out), expected), "values of two devices, for device " + std::to_string(device));
      compute(kSubtract, device, out, &c, {}, out);
      check(all_are(numbers(out), expected - 5), "values of a device and the host");
    }
    compute(*f, kHost, a, &c, {}, a);  // the host works, in the memory of a device
    check(all_are(numbers(a), f == &kAdd ? 8 : 13), "values that the host has written");
  }
}

void a_result_may_be_in_any_memory() {
  TwoDevices devices;
  const Array a = filled(kFirst, {100}, 3);
  for (int device : {kHost, kFirst, kSecond})
    for (int memory : {kHost, kFirst, kSecond}) {
      const Array out = Array::make(DType::i64, {100}, budget_of(memory));
      compute(kAdd, device, a, &a, {}, out);
      check(all_are(numbers(out), 6), "values of an operation for one device in the memory of another");
    }
}

// Writes all of a storage that it reads, and names the write first.
struct Increment final : Kernel {
  const char* name() const override { return "increment"; }
  void run(Op& op, int64_t) override {
    for (size_t i = 0; i < op.access(0).storage->bytes; i += 8) {
      int64_t value;
      std::memcpy(&value, operand_data(op, 1, static_cast<int64_t>(i)), 8);
      ++value;
      std::memcpy(operand_data(op, 0, static_cast<int64_t>(i)), &value, 8);
    }
  }
};

void an_operation_reads_the_storage_that_it_overwrites() {
  TwoDevices devices;
  const Array a = filled(kFirst, {100}, 3);
  issue(kFirst, [&](Op& op) {
    op.emplace<Increment>();
    op.cost = 1000;
    op.add(a.storage(), Mode::write), op.add(a.storage(), Mode::read);
  });
  check(all_are(numbers(a), 4), "values");
  check(devices.first.downloads == 2, "it is copied to the host once");
}

// Ops are used again: the ones that place() makes have nothing of their former lives.
void a_copy_is_no_host_task() {
  TwoDevices devices;
  const Array a = filled(kFirst, {100}, 3);
  std::vector<Op*> ops;
  for (int i = 0; i < 8; ++i) ops.push_back(Engine::get().make_op());
  for (Op* op : ops) op->cost = UINT32_MAX, Engine::get().discard(op);
  compute(kScaled, kFirst, a, &a, {}, a);  // submit() looks at the copies
  check(all_are(numbers(a), 9), "values");
}

void values_go_from_device_to_device(bool reaches) {
  TwoDevices devices;
  devices.second.reaches_others = reaches;
  const Array a = filled(kFirst, {100}, 3), b = Array::make(DType::i64, {100}, budget_of(kSecond));
  copy(a, b);
  check(all_are(numbers(b), 3), "values");
  check(devices.second.transfers == (reaches ? 1 : 0) && devices.first.downloads == (reaches ? 0 : 1), "the way");
  add_number(a, 1);
  const Array some = part(b, 10, 20);
  copy(part(a, 50, 60), some);
  const auto values = numbers(b);
  for (size_t i = 0; i < values.size(); ++i) check(values[i] == (i / 10 == 1 ? 4 : 3), "a part of a part");
}

// Before anything is written, a part is; the rest may have any values.
void a_part_may_be_written_first() {
  TwoDevices devices;
  const Array a = Array::make(DType::i64, {100}, budget_of(kFirst)),
              b = Array::make(DType::i64, {100}, budget_of(kFirst));
  fill(part(a, 10, 20), 7);
  check(all_are(numbers(part(a, 10, 20)), 7), "on the device");
  compute(kScaled, kFirst, part(a, 10, 20), nullptr, scalar_of(DType::i64, 1), part(b, 30, 40));
  check(all_are(numbers(part(b, 30, 40)), 9), "by the host");
  numbers(Array::make(DType::i64, {100}, budget_of(kFirst)));
}

// --- failures --------------------------------------------------------------------------------------------------------

void an_operation_fails_on_the_host(bool waits) {
  TwoDevices devices;
  const Array a = filled(kFirst, {100}, 5), good = filled(kFirst, {100}, 6);
  const Array out = Array::make(DType::i64, {100}, budget_of(kFirst)),
              next = Array::make(DType::i64, {100}, budget_of(kFirst));
  const std::string expected = "checked: must not be 5, got 5";
  auto failing = [&](auto f) {
    std::string thrown;
    synchronous = waits;
    try {
      f();
    } catch (const Error& error) {
      thrown = error.what();
    }
    synchronous = false;
    check(thrown == (waits ? expected : ""), "thrown: " + thrown);
  };
  failing([&] { compute(kChecked, kFirst, a, &good, {}, out); });
  if (!waits) compute(kAdd, kFirst, out, &good, {}, next);
  check(failure_of(out) == expected, "the result has failed: " + failure_of(out));
  check(failure_of(next) == (waits ? "" : expected), "and what depends on it: " + failure_of(next));
  check(failure_of(a).empty() && failure_of(good).empty(), "what it read has not");
  failing([&] { compute(kChecked, kFirst, part(a, 0, 10), nullptr, scalar_of(DType::i64, 1), part(good, 0, 10)); });
  check(failure_of(good) == expected, "and where a part is written, the array");
  fill(out, 1), fill(good, 2);
  check(all_are(numbers(out), 1) && all_are(numbers(good), 2), "new values are good");
}

void a_device_fails() {
  TwoDevices devices;
  const Array a = filled(kFirst, {100}, 5), other = filled(kSecond, {100}, 6), here = filled(kHost, {100}, 7);
  const Array b = Array::make(DType::i64, {100}, budget_of(kFirst));
  numbers(a);
  devices.first.hold(true);
  devices.first.fails = 1;
  add_number(a, 1);
  compute(kAdd, kFirst, a, &a, {}, b);
  compute(kScaled, kFirst, b, &b, {}, b);
  devices.first.hold(false);
  check(failure_of(a) == "simple(0) has failed" && failure_of(b) == failure_of(a), "all that depends on it has failed");
  check(all_are(numbers(other), 6) && all_are(numbers(here), 7), "the other devices have not");
  fill(a, 1);
  check(all_are(numbers(a), 1), "it goes on");
  devices.first.fails = 1;
  fill(part(a, 0, 10), 2);
  check(failure_of(part(a, 50, 60)) == "simple(0) has failed", "where a part is written, all of the array is lost");
  fill(a, 1);
  devices.first.broken = true;
  add_number(a, 1);
  copy(b, other);
  const Array up = filled(kFirst, {100}, 1);
  check(failure_of(a) == "simple(0) is broken" && failure_of(up) == failure_of(a), "nothing is handed over to it");
  check(failure_of(other) == "simple(0) has failed", "the first failure stays");
  check(all_are(numbers(here), 7), "the host goes on");
}

void a_device_dies_under_a_program(int steps) {
  TwoDevices devices;
  Run run(7, {kHost, kFirst, kSecond});
  for (int i = 0; i < steps; ++i) run.step();
  devices.second.broken = true;
  const Array there = filled(kSecond, {10}, 1);
  check(failure_of(there) == "simple(1) is broken", "it fails");
  Run rest(8, {kHost, kFirst});
  for (int i = 0; i < steps; ++i) rest.step();
  rest.check_all();
}

// --- memory ----------------------------------------------------------------------------------------------------------

void memory_of_a_device_is_bounded() {
  constexpr int64_t kElements = 1000;
  TwoDevices devices({2}, 6 * 8 * kElements);
  MemoryBudget& budget = *budget_of(kFirst);
  budget.reset_peak();
  {
    Array a = filled(kFirst, {kElements}, 1);
    for (int i = 0; i < 300; ++i) {
      const Array b = Array::make(DType::i64, {kElements}, budget_of(kFirst));
      compute(i % 5 ? kAdd : kScaled, kFirst, a, nullptr, scalar_of(DType::i64, 1), b);
      a = b;
    }
    check(all_are(numbers(a), 1 + 300 + 60), "values");
    check(budget.peak <= 6 * 8 * kElements, "no more was live than there is");
    const Array large = Array::make(DType::i64, {7 * kElements}, budget_of(kFirst));
    fill(large, 1);
    const std::string failure = failure_of(large);
    check(failure.find("asked for 56000 bytes") != std::string::npos &&
              failure.find("limit of 48000") != std::string::npos,
          "a memory error names bytes: " + failure);
    check(large.storage()->failure->kind == ErrorKind::memory, "and is one");
    std::vector<Array> held;
    for (int i = 0; i < 9; ++i) held.push_back(filled(kFirst, {kElements}, i));
    int good = 0;
    for (const Array& array : held) good += failure_of(array).empty();
    check(good == 5, "as many arrays as fit, got " + std::to_string(good));
    const Array other = filled(kSecond, {kElements}, 3), here = filled(kHost, {10 * kElements}, 3);
    check(all_are(numbers(other), 3) && all_are(numbers(here), 3), "other memories are others' affair");
    held.clear();
    add_number(a, 1);
    check(all_are(numbers(a), 362), "it goes on");
  }
}

// The device has less than it has promised.
void a_device_refuses_memory() {
  constexpr int64_t kElements = 1000;
  TwoDevices devices({2}, kPlenty, 6 * 8 * kElements);
  const Array a = filled(kFirst, {kElements}, 1), b = filled(kFirst, {4 * kElements}, 2);
  numbers(a), numbers(b);
  const Array c = filled(kFirst, {2 * kElements}, 3);
  const std::string failure = failure_of(c);
  check(c.storage()->failure && c.storage()->failure->kind == ErrorKind::memory, "a memory error, got " + failure);
  check(failure.find("asked for 16000 bytes") != std::string::npos, "it names bytes: " + failure);
  check(all_are(numbers(a), 1) && all_are(numbers(b), 2), "the others are good");
  const Array d = filled(kFirst, {kElements}, 4);
  check(all_are(numbers(d), 4), "what fits goes on");
}

void the_hosts_limit_is_the_hosts() {
  constexpr int64_t kElements = 1000;
  TwoDevices devices;
  MemoryBudget& host = *budget_of(kHost);
  const Array a = filled(kFirst, {10 * kElements}, 5);
  numbers(a);
  host.soft = host.hard = 8 * kElements;
  const Array b = Array::make(DType::i64, {10 * kElements}, budget_of(kFirst));
  compute(kScaled, kFirst, a, &a, {}, b);  // the copies need memory there
  wait_for(*b.storage());
  check(b.storage()->failure && b.storage()->failure->kind == ErrorKind::memory,
        "the host has no memory for the copies");
  add_number(a, 1);
  wait_for(*a.storage());
  check(!a.storage()->failure, "the device has");
  host.soft = host.hard = SIZE_MAX;
  check(all_are(numbers(a), 6), "values");
}

// --- dropped, repeated, forked ---------------------------------------------------------------------------------------

void what_nothing_reads_never_reaches_the_device() {
  TwoDevices devices;
  const Array a = filled(kFirst, {100}, 1);
  numbers(a);
  const int before = devices.first.done;
  Engine::get().gate(true);
  {
    const Array b = Array::make(DType::i64, {100}, budget_of(kFirst)),
                c = Array::make(DType::i64, {100}, budget_of(kFirst));
    compute(kAdd, kFirst, a, &a, {}, b);
    compute(kScaled, kFirst, b, &a, {}, c);  // on the host, with its copies
    copy(c, Array::make(DType::i64, {100}, budget_of(kSecond)));
  }
  Engine::get().gate(false);
  wait_all();
  check(devices.first.done == before && devices.second.done == 0, "neither copies nor computations are handed over");
}

// Operations recorded on a device are repeated there, with other arrays.
void a_captured_program_runs_on_a_device() {
  TwoDevices devices;
  auto make = [](int device = kFirst) { return Array::make(DType::i64, {100}, budget_of(device)); };
  auto body = [&](const Array& x, const Array& y) {
    const Array z = make(), w = make(), there = make(kSecond);
    compute(kAdd, kFirst, x, &y, {}, z);
    compute(kScaled, kFirst, z, &x, {}, w);
    copy(w, there);
    add_number(there, 1);
    compute(kSubtract, kFirst, w, &there, {}, z);
    fill(part(y, 0, 50), 9);
    return std::vector<Array>{w, there, z};
  };
  const Array x = filled(kFirst, {100}, 3), y = filled(kFirst, {100}, 4);
  Recording made({x, y});
  recording = &made;
  std::vector<Array> outputs = body(x, y);
  recording = nullptr;
  check(made.refused().empty(), "all of it can be repeated");
  const std::shared_ptr<forerun::Program> program = made.finish(outputs);
  check(!program->whole() && program->writes(1) && !program->writes(0), "it goes operation by operation");
  for (int64_t i = 0; i < 20; ++i) {
    const Array p = filled(kFirst, {100}, i), q = filled(kFirst, {100}, 10 * i);
    const std::vector<const Array*> inputs = {&p, &q};
    check(program->takes(inputs), "it takes arrays of the device");
    forerun::Program::Storages storages = program->storages(inputs);
    for (const auto& step : program->steps()) {
      Op* op = Engine::get().make_op();
      program->build_step(*op, *step, storages, 0, 0);
      submit(op, step->op.queue->device, step->op.queue->kind, step->op.budget->device);
    }
    auto output = [&](size_t k) {
      const forerun::Program::View& view = program->outputs()[k];
      return numbers(Array(storages.at[static_cast<size_t>(view.slot)], view.layout));
    };
    check(all_are(output(0), 13 * i) && all_are(output(1), 13 * i + 1) && all_are(output(2), -1), "values of a run");
    check(all_are(numbers(part(q, 0, 50)), 9) && all_are(numbers(part(q, 50, 100)), 10 * i), "what a run writes");
  }
  const Array here = filled(kHost, {100}, 1);
  check(!program->takes({&here, &here}), "arrays of the host are others");
}

void settings_change_after_a_device_was_used() {
  TwoDevices devices({2});
  const Array a = filled(kFirst, {100}, 1);
  for (const std::vector<int>& workers : {std::vector<int>{1}, {0}, {2, 1}, {2}}) {
    wait_all();
    stop_workers();
    Engine::get().configure(workers, 2);
    add_number(a, 1);
    const Array b = filled(kSecond, {100}, 1);
    compute(kScaled, kFirst, a, &b, {}, a);
    numbers(a), numbers(b);
    check(budget_of(kFirst)->hard == kPlenty && budget_of(kFirst)->accelerator == &devices.first,
          "it stays what it is");
  }
  check(all_are(numbers(a), 13), "values");
}

void a_forked_child_has_an_error() {
  if (!kForks) return;
  TwoDevices devices;
  Array a = filled(kFirst, {100}, 1);
  numbers(a);
  wait_all();
  stop_workers();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends a child that hangs
    auto refused = [&](auto f) {
      try {
        f();
      } catch (const Error& error) {
        return std::string(error.what()).find("simple(0)") == 0;
      }
      return false;
    };
    const Array here = filled(kHost, {100}, 2);
    bool good = refused([&] { add_number(a, 1); }) && refused([&] { filled(kFirst, {100}, 1); });
    good = good && refused([&] { numbers(a); }) && refused([&] { copy(here, a); });
    good = good && all_are(numbers(here), 2);
    a = Array();  // its values are the parent's
    _exit(good ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  check(status == 0, "the child has an error, and goes on on the host");
  add_number(a, 1);
  check(all_are(numbers(a), 2), "the parent goes on");
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : kSanitized ? 500 : 1500;
  use_cpu_workers(Engine::get());
  Engine::get().configure({2}, 3);
  for (const std::vector<int>& workers : {std::vector<int>{2}, {1}, {0}}) results_are_those_of_the_host(workers, steps);
  several_threads_submit(steps);
  the_host_has_what_it_reads_and_gives_back_what_it_writes();
  an_operation_reads_arrays_of_two_devices();
  a_result_may_be_in_any_memory();
  an_operation_reads_the_storage_that_it_overwrites();
  a_copy_is_no_host_task();
  values_go_from_device_to_device(true);
  values_go_from_device_to_device(false);
  a_part_may_be_written_first();
  an_operation_fails_on_the_host(false);
  an_operation_fails_on_the_host(true);
  a_device_fails();
  a_device_dies_under_a_program(steps);
  memory_of_a_device_is_bounded();
  a_device_refuses_memory();
  the_hosts_limit_is_the_hosts();
  what_nothing_reads_never_reaches_the_device();
  a_captured_program_runs_on_a_device();
  settings_change_after_a_device_was_used();
  a_forked_child_has_an_error();
  wait_all();
  stop_workers();
  return 0;
}
