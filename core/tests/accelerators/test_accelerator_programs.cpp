// Random programs on devices with memory of their own: values and failures equal those of the same program on the host,
// also from several threads, and if a device is lost. `test_accelerator_programs [steps]`.
#include "accelerators/random_run.h"

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

using namespace forerun;
using namespace forerun::test;

namespace {

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
    check(devices.first.lowered_again > 0, "some operations were like others before");
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

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : kSanitized ? 500 : 1500;
  const Workers workers;
  for (const std::vector<int>& count : {std::vector<int>{2}, {1}, {0}}) results_are_those_of_the_host(count, steps);
  several_threads_submit(steps);
  a_device_dies_under_a_program(steps);
  return 0;
}
