// Groups with some steps replaced by compiled loops: random calculations in several threads, with a compiler that
// answers while they run. Its functions interpret their descriptions. `test_compiled_loops [steps]`.
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calculation.h"
#include "cpu/codegen/compiled_loops.h"
#include "cpu/threads.h"

using namespace forerun;
using namespace forerun::test;

namespace {

// --- a compiler ------------------------------------------------------------------------------------------------------

struct Interpreted {
  struct Operand {
    std::string walk;
    int64_t stride = 0;
  };
  struct Line {
    std::string formula;
    std::vector<size_t> args;
  };
  std::vector<Operand> operands;
  std::vector<Line> lines;
  bool known = true;  // whether all formulas and dtypes are known

  explicit Interpreted(const std::string& description) {
    std::istringstream text(description);
    for (std::string line, word; std::getline(text, line);) {
      std::istringstream words(line);
      words >> word;
      if (word == "operand") {
        Operand operand;
        words >> word >> operand.walk >> operand.stride;
        known = known && word == "uint64";
        operands.push_back(operand);
        continue;
      }
      Line next{word, {}};
      known = known && (word == "load" || word == "store" || word == "add" || word == "cast");
      while (words >> word)
        if (std::isdigit(static_cast<unsigned char>(word[0]))) next.args.push_back(std::stoul(word));
      lines.push_back(next);
    }
  }

  char* place(size_t k, char** args, int64_t row, int64_t i, const intptr_t* pitches) const {
    const Operand& operand = operands[k];
    const int64_t step = operand.walk == "dense" ? 8 : operand.walk == "strided" ? operand.stride : 0;
    return args[k] + (operand.walk == "one" ? 0 : row * pitches[k]) + i * step;
  }
  void run(char** args, intptr_t rows, intptr_t n, const intptr_t* pitches) const {
    std::vector<uint64_t> values;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < n; ++i) {
        values.clear();
        for (const Line& line : lines) {
          uint64_t value = 0;
          if (line.formula == "load")
            std::memcpy(&value, place(line.args[0], args, row, i, pitches), 8);
          else if (line.formula == "store")
            std::memcpy(place(line.args[0], args, row, i, pitches), &values[line.args[1]], 8);
          else
            value = line.formula == "add" ? values[line.args[0]] + values[line.args[1]] : values[line.args[0]];
          if (line.formula != "store") values.push_back(value);
        }
      }
  }
};

// A function has no data: there is a fixed number of functions, each with a description of its own.
constexpr size_t kMost = 256;
std::array<std::unique_ptr<Interpreted>, kMost> interpreted;
std::atomic<uint64_t> calls{0};

template <size_t number>
void run_of(char** args, intptr_t rows, intptr_t n, const intptr_t*, const intptr_t* pitches, void*) {
  calls.fetch_add(1, std::memory_order_relaxed);
  interpreted[number]->run(args, rows, n, pitches);
}

template <size_t... number>
RowsFunction function_of(size_t which, std::index_sequence<number...>) {
  static constexpr RowsFunction all[] = {run_of<number>...};
  return all[which];
}

// Answers requests until it ends.
class Compiler {
 public:
  Compiler() {
    CompiledLoops::get().set_compiler([this] { asked_.store(true), asked_.notify_one(); });
    thread_ = std::thread([this] { work(); });
  }
  ~Compiler() {
    ends_.store(true), asked_.store(true), asked_.notify_one();
    thread_.join();
    CompiledLoops::get().close();
  }

 private:
  void work() {
    CompiledLoops& loops = CompiledLoops::get();
    while (!ends_.load()) {
      asked_.wait(false);
      asked_.store(false);
      while (std::shared_ptr<CompiledLoop> loop = loops.next()) {
        auto own = std::make_unique<Interpreted>(loop->description);
        const bool can = own->known && made_ < kMost;
        if (can) interpreted[made_] = std::move(own);
        loops.answer(*loop, can ? function_of(made_++, std::make_index_sequence<kMost>()) : nullptr);
      }
    }
  }
  size_t made_ = 0;
  std::atomic<bool> asked_{false}, ends_{false};
  std::thread thread_;
};

// --- calculations ----------------------------------------------------------------------------------------------------

void calculate(uint32_t seed, int64_t rows, int64_t columns, int steps) {
  Calculation calculation(seed, rows, columns);
  for (int i = 0; i < steps; i += 20) {
    const bool held = i % 40 == 0;  // some steps are held back until all of them are issued
    if (held) Engine::get().gate(true);
    for (int k = 0; k < 20; ++k) calculation.step();
    if (held) Engine::get().gate(false);
    if (i % 60 == 0) calculation.check_all();
  }
  calculation.check_all();
}

void run(const std::vector<int>& workers, int threads, int steps) {
  Engine& engine = Engine::get();
  wait_all();
  stop_workers();
  engine.configure(workers, 3);
  engine.passes.set_fuse_from(0);
  static constexpr int64_t kShapes[][2] = {{40, 300}, {9, 2049}, {2000, 7}, {1, 5}, {1, 70000}};
  for (const auto& shape : kShapes) {
    // The same calculations twice: in the second round loops of the first one are compiled.
    for (int round = 0; round < 2; ++round) {
      std::vector<std::thread> others;
      auto go = [&](uint32_t t) { calculate(100 * t + static_cast<uint32_t>(shape[1]), shape[0], shape[1], steps); };
      for (int t = 1; t < threads; ++t) others.emplace_back(go, t);
      go(0);
      for (std::thread& thread : others) thread.join();
    }
  }
  wait_all();
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : kSanitized ? 60 : 120;
  Engine& engine = Engine::get();
  use_cpu_workers(engine);
  CompiledLoops::get().set_compile_from(0);
  {
    Compiler compiler;
    run({1}, 1, steps);
    run({2}, 1, steps);
    run({3}, 2, steps);
  }
  check(CompiledLoops::get().compiled() > 10, "loops have been compiled");
  check(calls.load() > 100, "and they have run");
  run({2}, 1, steps);  // without a compiler
  wait_all();
  stop_workers();
  check(engine.devices[0].budget->live.load() == 0, "all memory came back");
  std::printf("%llu loops, %llu calls\n", static_cast<unsigned long long>(CompiledLoops::get().compiled()),
              static_cast<unsigned long long>(calls.load()));
}
