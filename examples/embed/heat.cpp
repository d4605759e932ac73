// Heat spreads along a rod: a C++ program on forerun's engine, without Python.
//
// Each step is an operation that reads one array and writes another. The loop queues all steps and returns; the engine
// runs them in order, each on several threads, while two rods are computed side by side. Only read() waits.
#include <algorithm>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <vector>

#include <forerun/forerun.h>

using namespace forerun::embed;

namespace {

constexpr int kCells = 100'000, kTiles = 4;

Array step(const Array& from) {
  Array to({kCells}, Type::float64);
  Operation("step").read(from).write(to).pure().run(kTiles, [](Operands& o, int64_t tile) {
    std::span<const double> a = o.in<double>(0);
    std::span<double> b = o.out<double>(0);
    for (int64_t i = kCells * tile / kTiles, end = kCells * (tile + 1) / kTiles; i < end; ++i) {
      double left = i > 0 ? a[i - 1] : a[i], right = i + 1 < kCells ? a[i + 1] : a[i];
      b[i] = a[i] + 0.25 * (left - 2 * a[i] + right);
    }
  });
  return to;
}

double total(const Array& rod) {
  double sum = 0;
  for (double value : rod.values<double>()) sum += value;  // waits
  return sum;
}

}  // namespace

int main() {
  std::vector<double> hot(kCells, 0.0);
  hot[kCells / 2] = 1000;
  Array left = Array::of(hot), right = Array::of(hot);
  for (int i = 0; i < 100; ++i) left = step(left), right = step(right);  // queued
  std::printf("heat: %.6f and %.6f, the warmest cell: %.4f\n", total(left), total(right),
              *std::max_element(left.values<double>().begin(), left.values<double>().end()));

  // An error of a kernel is raised where a result is read, also that of a later operation.
  Array broken({kCells}, Type::float64);
  Operation("measure").write(broken).run([](Operands&) { throw std::runtime_error("the sensor does not answer"); });
  try {
    step(broken).wait();
  } catch (const Error& error) {
    std::printf("error: %s\n", error.what());
  }
}
