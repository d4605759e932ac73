// forerun for C++ programs: arrays whose operations are queued and run asynchronously, in parallel, in bounded memory.
//
//   using namespace forerun::embed;
//   Array x = Array::of<float>({1, 2, 3}), y({3}, Type::float32);
//   Operation("double").read(x).write(y).run([](Operands& o) {
//     for (size_t i = 0; i < o.in<float>(0).size(); ++i) o.out<float>(0)[i] = 2 * o.in<float>(0)[i];
//   });                                     // queued: returns at once
//   std::vector<float> z = y.read<float>();  // waits; raises the error of the kernel, if it has thrown one
//
// The engine finds the dependencies between operations from the arrays that they read and write. Results are those of a
// run in program order. Python is not needed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace forerun::embed {

enum class Type : uint8_t { boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64 };

template <class T>
constexpr Type type_of() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "elements are numbers of at most 64 bits");
  if constexpr (std::is_same_v<T, bool>) return Type::boolean;
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? Type::float32 : Type::float64;
  constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return static_cast<Type>(static_cast<int>(std::is_signed_v<T> ? Type::int8 : Type::uint8) + kLog);
}

// The error of an operation, raised where its result is read; and errors of calls.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// For how the engine runs. Used by the first operation; configure() may be called before it, and again while no other
// thread calls forerun.
struct Settings {
  int workers = 0;           // threads that run operations; 0: the cores that the process may use
  size_t memory_budget = 0;  // bytes of arrays above which nothing runs ahead of program order; 0: half of the memory
  size_t memory_limit = 0;   // bytes above which operations fail; 0: nine tenths of the memory
  uint64_t ops_ahead = 1 << 14;  // how many operations may be queued and not ended
};
void configure(const Settings& settings);

namespace detail {
struct Storage;
}

// A handle to values that may not be computed yet. Copies are handles to the same values. Any thread may use it.
class Array {
 public:
  // An array without values: memory is allocated when the first operation that writes it starts.
  Array(std::vector<int64_t> shape, Type type);
  // An array with these values.
  template <class T>
  static Array of(std::vector<T> values, std::vector<int64_t> shape = {});

  const std::vector<int64_t>& shape() const;
  Type type() const;
  size_t size() const;  // the number of elements
  bool ready() const;   // whether the values are computed
  void wait() const;    // until they are. Throws Error if their computation failed
  // The values, after a wait. They stay valid until the last handle is gone or a later operation writes the array.
  template <class T>
  std::span<const T> values() const {
    check(type_of<T>());
    return {static_cast<const T*>(data()), size()};
  }
  // A copy of the values, after a wait.
  template <class T>
  std::vector<T> read() const {
    std::span<const T> found = values<T>();
    return {found.begin(), found.end()};
  }

 private:
  friend class Operation;
  void check(Type type) const;
  const void* data() const;
  std::shared_ptr<detail::Storage> storage_;
};

// The values that a kernel works on: its inputs and outputs, numbered in the order in which the operation names them.
class Operands {
 public:
  template <class T>
  std::span<const T> in(int i) const {
    const Operand& found = at(inputs, i, type_of<T>());
    return {static_cast<const T*>(found.data), found.size};
  }
  template <class T>
  std::span<T> out(int i) const {
    const Operand& found = at(outputs, i, type_of<T>());
    return {static_cast<T*>(found.data), found.size};
  }

  struct Operand {
    void* data;
    size_t size;
    Type type;
  };
  std::span<const Operand> inputs, outputs;

 private:
  static const Operand& at(std::span<const Operand> operands, int i, Type type);
};

// A call of a kernel. run() queues it, and returns at once; it waits only while ops_ahead operations have not ended.
// Kernels run on any thread, different ones at the same time; they must not wait for arrays. An exception that a kernel
// throws is raised, as Error, by every read of its results and of the results of operations that use them.
class Operation {
 public:
  explicit Operation(std::string name);
  Operation& read(const Array& array);    // an input
  Operation& write(const Array& array);   // an output whose elements the kernel writes, all of them
  Operation& update(const Array& array);  // an output that it reads as well, or writes in part
  // Its results are all that it does: if no array and no operation uses them, it need not run.
  Operation& pure();
  // About how long the kernel takes: short operations are run in batches.
  Operation& nanoseconds(uint32_t cost);

  void run(std::function<void(Operands&)> kernel);
  // The kernel is called `tiles` times, with numbers from 0, by several threads at once.
  void run(int64_t tiles, std::function<void(Operands&, int64_t tile)> kernel);

 private:
  enum class Use : uint8_t { in, out, both };
  struct Named {
    Array array;
    Use use;
  };
  std::string name_;
  std::vector<Named> arrays_;
  bool pure_ = false;
  uint32_t cost_ = 50'000;
};

// Waits until all queued operations have ended. Throws nothing: errors are raised where results are read.
void wait_all();

template <class T>
Array Array::of(std::vector<T> values, std::vector<int64_t> shape) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements in memory; use uint8_t");
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  Array made(std::move(shape), type_of<T>());
  if (made.size() != values.size()) throw Error("Array::of: the shape must have as many elements as there are values");
  Operation("of").write(made).pure().run([values = std::move(values)](Operands& o) {
    std::span<T> out = o.out<T>(0);
    for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  });
  return made;
}

}  // namespace forerun::embed
