// Random programs on the host and on simple devices, also executed in order: values and failures must be equal.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "accelerators/front_end.h"
#include "cpu/kernels/copy/zeros.h"
#include "cpu/kernels/reduce/reduce.h"

namespace forerun::test {

// The same program for the same seed, wherever its arrays are: in the memory of the host, or of devices. It is also
// executed in order, for comparison.
class Run {
  static constexpr size_t kSlots = 9;
  struct Slot {
    Array array;
    std::vector<char> values;
    std::string failure;
    uint64_t failed = 0;  // the number of the failure in the program
  };

 public:
  Run(uint32_t seed, std::vector<int> devices) : random_(seed), devices_(std::move(devices)) {
    for (Slot& slot : slots_) renew(slot);
  }

  // `held`: nothing runs now, so waits are left out.
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
  // The failure of an operation with these operands; true: there is one.
  static bool inherit(Slot& out, std::initializer_list<const Slot*> operands) {
    std::string failure;
    uint64_t failed = 0;
    for (const Slot* slot : operands)
      if (!slot->failure.empty() && (failure.empty() || slot->failed < failed))
        failure = slot->failure, failed = slot->failed;
    out.failure = failure, out.failed = failed;
    return !failure.empty();
  }
  // out = f(a, b), executed in order. `b` null: a scalar.
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
    if (how == 1) {  // different values, by rows and by halves of rows
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

  // Floating-point numbers are only multiplied by one half, so that they stay finite.
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

  // A view of some rows and columns, from either end; and one of the same shape in another array.
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
  // For poisoned parts, more may fail on a device than on the host: such steps are left out.
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
  // Copies, perhaps to another memory, perhaps transposed, perhaps as another dtype.
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
    if (from.array.layout.dtype != DType::i64) return;  // the order of sums is up to the kernel
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

inline void Run::check_one(const Slot& slot) {
  std::vector<char> values;
  const std::string failure = text_of(slot.array, values);
  check(failure == slot.failure, "failure: got '" + failure + "' instead of '" + slot.failure + "'");
  if (failure.empty())
    check(values == slot.values, "values of an array of device " + std::to_string(device_of(slot.array)));
}

}  // namespace forerun::test
