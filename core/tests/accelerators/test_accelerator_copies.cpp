// Operations are placed on devices with memory of their own, or on the host between copies: the copied values.
#include "accelerators/front_end.h"

#include <cstring>
#include <string>
#include <vector>

using namespace forerun;
using namespace forerun::test;

namespace {

// The copies for an operation without code on the device: of its operands, once, and of its results.
void host_reads_are_downloaded_and_host_writes_uploaded() {
  TwoDevices devices;
  SimpleDevice& device = devices.first;
  {
    const Array a = filled(kFirst, {50, 4}, 3), out = Array::make(DType::i64, {50, 4}, budget_of(kFirst));
    check(device.uploads == 0 && device.downloads == 0, "operands of an op with code are not copied");
    compute(kScaled, kFirst, a, &a, {}, out);
    check(all_are(numbers(out), 9), "values");
    check(device.downloads == 2 && device.uploads == 1, "one operand there, and the look; the result back");
    compute(kScaled, kFirst, out, &a, {}, out);
    check(all_are(numbers(out), 15) && all_are(numbers(a), 3), "values of an update");
    check(device.downloads == 6 && device.uploads == 2, "an update reads the array that it writes");
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

// Writes all of a storage that it reads, and lists the write first.
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

// Ops are reused: the ones that place() makes keep no state of their previous use.
void a_copy_is_no_host_task() {
  TwoDevices devices;
  const Array a = filled(kFirst, {100}, 3);
  std::vector<Op*> ops;
  for (int i = 0; i < 8; ++i) ops.push_back(Engine::get().make_op());
  for (Op* op : ops) op->cost = UINT32_MAX, Engine::get().discard(op);
  compute(kScaled, kFirst, a, &a, {}, a);  // submit() checks the copies
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

// A part is written before anything else is; the rest may have any values.
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

}  // namespace

int main() {
  const Workers workers;
  host_reads_are_downloaded_and_host_writes_uploaded();
  an_operation_reads_arrays_of_two_devices();
  a_result_may_be_in_any_memory();
  an_operation_reads_the_storage_that_it_overwrites();
  a_copy_is_no_host_task();
  values_go_from_device_to_device(true);
  values_go_from_device_to_device(false);
  a_part_may_be_written_first();
  return 0;
}
