// Operations of devices are dropped and captured; devices survive changes of settings, and cannot be used in a child.
#include "accelerators/front_end.h"

#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

using namespace forerun;
using namespace forerun::test;

namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kForks = false;  // ThreadSanitizer does not follow threads of a child
#else
constexpr bool kForks = true;
#endif

void unread_results_never_reach_the_device() {
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
    check(all_are(numbers(part(q, 0, 50)), 9) && all_are(numbers(part(q, 50, 100)), 10 * i),
          "the values that a run writes");
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
    check(budget_of(kFirst)->hard == kPlenty && budget_of(kFirst)->accelerator == &devices.first, "it does not change");
  }
  check(all_are(numbers(a), 13), "values");
}

void a_forked_child_has_an_error() {
  if (!kForks || emulated()) return;
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
    a = Array();  // its values belong to the parent
    _exit(good ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  check(status == 0, "the child has an error, and goes on on the host");
  add_number(a, 1);
  check(all_are(numbers(a), 2), "the parent goes on");
}

}  // namespace

int main() {
  const Workers workers;
  unread_results_never_reach_the_device();
  a_captured_program_runs_on_a_device();
  settings_change_after_a_device_was_used();
  a_forked_child_has_an_error();
  return 0;
}
