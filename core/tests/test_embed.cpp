// The header for C++ programs: order, errors, tiles, memory, threads.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <forerun/forerun.h>

using namespace forerun::embed;

namespace {

void check(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Array plus(const Array& a, int64_t n) {
  Array out(a.shape(), Type::int64);
  Operation("plus").read(a).write(out).run([n](Operands& o) {
    for (size_t i = 0; i < o.in<int64_t>(0).size(); ++i) o.out<int64_t>(0)[i] = o.in<int64_t>(0)[i] + n;
  });
  return out;
}

void results_are_those_of_program_order() {
  Array x = Array::of<int64_t>({1, 2, 3});
  Array before = plus(x, 0);
  for (int i = 0; i < 100; ++i)
    Operation("double").update(x).run([](Operands& o) {
      for (int64_t& value : o.out<int64_t>(0)) value = (2 * value) % 1000;
    });
  Array after = plus(x, 10);
  int64_t expected = 1;
  for (int i = 0; i < 100; ++i) expected = (2 * expected) % 1000;
  check(before.read<int64_t>() == std::vector<int64_t>{1, 2, 3}, "a read before the updates");
  check(after.read<int64_t>()[0] == expected + 10, "a read after the updates");
  check(x.shape() == std::vector<int64_t>{3} && x.size() == 3 && x.type() == Type::int64, "shape, size and type");
}

void calls_do_not_wait() {
  std::atomic<bool> go{false};
  Array x({1}, Type::int64);
  Operation("held").write(x).run([&](Operands& o) {
    while (!go) std::this_thread::yield();
    o.out<int64_t>(0)[0] = 7;
  });
  Array y = plus(plus(x, 1), 1);
  check(!y.ready(), "the results are pending while the first kernel runs");
  go = true;
  y.wait();
  check(y.ready() && y.values<int64_t>()[0] == 9, "the value of a chain");
}

void each_tile_runs_once() {
  Array x({64}, Type::int32);
  std::atomic<int> calls{0};
  Operation("tiles").write(x).run(8, [&](Operands& o, int64_t tile) {
    ++calls;
    for (int64_t i = 8 * tile; i < 8 * tile + 8; ++i)
      o.out<int32_t>(0)[static_cast<size_t>(i)] = static_cast<int>(tile);
  });
  std::vector<int32_t> values = x.read<int32_t>();
  for (size_t i = 0; i < 64; ++i) check(values[i] == static_cast<int>(i / 8), "the value of a tile");
  check(calls == 8, "each tile runs once");
}

void errors_are_raised_where_results_are_read() {
  Array x({1}, Type::int64);
  Operation("broken").write(x).run([](Operands&) { throw std::runtime_error("out of order"); });
  Array y = plus(x, 1);
  check(message([&] { y.wait(); }) == "broken: out of order", "the error of an input");
  check(message([&] { x.values<int64_t>(); }) == "broken: out of order", "the error, raised by every read");
  Operation("whole").write(x).run([](Operands& o) { o.out<int64_t>(0)[0] = 5; });
  check(x.read<int64_t>()[0] == 5, "a write of all of it makes an array good again");
  check(message([&] { y.wait(); }) == "broken: out of order", "a result computed from the failed values has failed");
}

void mistakes_are_errors_of_the_call() {
  Array empty({2}, Type::float32);
  check(message([&] { empty.wait(); }).starts_with("wait: an operation must have been queued"), "nothing writes it");
  check(message([&] { plus(empty, 1); }).starts_with("plus: an input must have been written"),
        "nothing has written it");
  check(message([] { Array({-1}, Type::int8); }) == "Array: extents must not be negative, got -1", "an extent");
  check(message([] { Array::of<int>({1, 2}, {3}); }).starts_with("Array::of: the shape"), "a shape");
  Array x = Array::of<int64_t>({1});
  check(message([&] { x.read<double>(); }) == "values: the type must be that of the array", "a type");
  check(message([&] { Operation("none").write(x).run(0, [](Operands&, int64_t) {}); }).starts_with("none: tiles"),
        "tiles");
  Array y({1}, Type::int64);
  Operation("wrong").read(x).write(y).run([](Operands& o) { o.out<int64_t>(1); });
  check(message([&] { y.wait(); }) == "wrong: operand 1 must be one of 1", "an operand");
  Operation("waits").write(y).run([x](Operands&) { x.wait(); });
  check(message([&] { y.wait(); }).starts_with("waits: wait: a kernel must not wait"), "a wait in a kernel");
}

void unused_results_of_pure_kernels_may_be_dropped() {
  auto alive = std::make_shared<int>(0);
  std::weak_ptr<int> seen = alive;
  {
    Array x({1}, Type::int8);
    Operation("pure").write(x).pure().run([alive = std::move(alive)](Operands& o) { o.out<int8_t>(0)[0] = 1; });
  }
  wait_all();
  for (int i = 0; i < 10'000 && !seen.expired(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  check(seen.expired(), "a kernel is destroyed with its captures soon after its operation has ended");
}

void threads_queue_side_by_side() {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&good, t] {
      Array x = Array::of<int64_t>({t});
      for (int i = 0; i < 500; ++i) x = plus(x, 1);
      good += x.read<int64_t>()[0] == t + 500;
    });
  for (std::thread& thread : threads) thread.join();
  check(good == 4, "each thread's own order");
}

void memory_is_limited() {
  configure({.workers = 2, .memory_limit = 1 << 20});
  Array big({1 << 20}, Type::float64);
  Operation("big").write(big).run([](Operands&) {});
  check(message([&] { big.wait(); }).find("memory") != std::string::npos, "an array above the limit");
  configure({});
  Array small = Array::of<float>({1, 2});
  check(small.read<float>()[1] == 2, "the engine goes on");
}

}  // namespace

int main() {
  results_are_those_of_program_order();
  calls_do_not_wait();
  each_tile_runs_once();
  errors_are_raised_where_results_are_read();
  mistakes_are_errors_of_the_call();
  unused_results_of_pure_kernels_may_be_dropped();
  threads_queue_side_by_side();
  memory_is_limited();
  Array last({1}, Type::int64);
  Operation("last").write(last).run([](Operands&) {});  // ends before the program does
}
