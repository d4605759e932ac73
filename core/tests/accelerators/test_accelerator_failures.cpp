// Devices with memory of their own fail, refuse memory or run out of it: only dependent operations fail.
#include "accelerators/front_end.h"

#include <string>
#include <vector>

using namespace forerun;
using namespace forerun::test;

namespace {

void an_operation_fails_on_the_host() {
  TwoDevices devices;
  const Array a = filled(kFirst, {100}, 5), good = filled(kFirst, {100}, 6);
  const Array out = Array::make(DType::i64, {100}, budget_of(kFirst)),
              next = Array::make(DType::i64, {100}, budget_of(kFirst));
  const std::string expected = "checked: must not be 5, got 5";
  compute(kChecked, kFirst, a, &good, {}, out);
  compute(kAdd, kFirst, out, &good, {}, next);
  check(failure_of(out) == expected, "the result has failed: " + failure_of(out));
  check(failure_of(next) == expected, "and what depends on it: " + failure_of(next));
  check(failure_of(a).empty() && failure_of(good).empty(), "its inputs have not");
  compute(kChecked, kFirst, part(a, 0, 10), nullptr, scalar_of(DType::i64, 1), part(good, 0, 10));
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

// The device has less memory than it has reported.
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
  check(all_are(numbers(d), 4), "an operation that fits still runs");
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

}  // namespace

int main() {
  const Workers workers;
  an_operation_fails_on_the_host();
  a_device_fails();
  memory_of_a_device_is_bounded();
  a_device_refuses_memory();
  the_hosts_limit_is_the_hosts();
  return 0;
}
