// The short descriptions of operations: operations with equal short descriptions have equal descriptions, except for
// the values of scalars; and a device describes an operation once.
#include <string>
#include <vector>

#include "accelerators/front_end.h"
#include "cpu/kernels/copy/gather_scatter.h"
#include "cpu/kernels/copy/zeros.h"
#include "cpu/kernels/elementwise/masked_write.h"
#include "cpu/kernels/gemm/matmul.h"
#include "cpu/kernels/reduce/reduce.h"
#include "cpu/kernels/sort/sort.h"
#include "device/brief_spec.h"

using namespace forerun;
using namespace forerun::test;

namespace {

struct Described {
  BriefSpec brief;
  std::string key, message;
};

template <class F>
Described described(F build) {
  Op* op = Engine::get().make_op();
  build(*op);
  OpSpec spec;
  check(op->kernel()->describe(*op, spec), "it has a description");
  spec.locate(*op);
  Described made{BriefSpec(*op), {}, spec.error_message};
  spec.append_key(made.key);
  Engine::get().discard(op);
  return made;
}

Array transposed(const Array& array) {
  Layout view = array.layout;
  std::swap(view.shape[0], view.shape[1]), std::swap(view.strides[0], view.strides[1]);
  return Array(array.storage(), view);
}

Described elementwise(const Function& f, const Array& a, const Array* b, int64_t scalar, const Array& out) {
  const DType t = out.layout.dtype, types[] = {t, t, t};
  const Operand inputs[] = {{&a, {}}, {b, scalar_of(t, scalar)}};
  const Array* outputs[] = {&out};
  const Loop loop = t == DType::f64 ? f.f64 : f.i64;
  return described([&](Op& op) { build_elementwise(op, f.name, loop, types, inputs, 2, outputs, 1); });
}

Described dense(const Function& f, const Array& a, const Array* b, int64_t scalar, const Array& out) {
  const DType t = out.layout.dtype, types[] = {t, t, t};
  const Operand inputs[] = {{&a, {}}, {b, scalar_of(t, scalar)}};
  return described([&](Op& op) { build_elementwise_dense(op, f.name, f.i64, types, inputs, 2, out); });
}

Described reduced(const Function& f, const Array& in, bool first, bool second, bool neutral, const Array& out) {
  const bool axes[] = {first, second};
  const Scalar zero = scalar_of(out.layout.dtype, 0);
  return described(
      [&](Op& op) { build_reduce(op, {f.name, f.name, f.i64}, in, axes, &zero, neutral ? &zero : nullptr, out); });
}

Array made(const Dims& shape, DType dtype = DType::i64) { return Array::make(dtype, shape, budget_of(kHost)); }

Array part(const Array& of, const Dims& shape, int64_t offset) {
  Layout layout = Layout::dense(of.layout.dtype, shape);
  layout.offset = offset;
  return Array(of.storage(), layout);
}

// Copies, products, positions of the largest elements, and cumulative sums.
void add_moves(std::vector<Described>& all) {
  const Array x = made({4, 6}), y = made({4, 6}), other = made({6, 4}), f = made({4, 6}, DType::f64);
  const Array low = part(x, {2, 6}, 0), high = part(x, {2, 6}, 96), half = made({2, 6}), square = made({4, 4});
  for (const Array* from : {&x, &f, &y}) {
    for (const Array* to : {&y, &f})
      if (from != to) all.push_back(described([&](Op& op) { build_copy(op, *from, *to); }));
    all.push_back(described([&](Op& op) { build_copy(op, transposed(*from), other); }));
  }
  for (const Array* each : {&low, &high}) {
    all.push_back(described([&](Op& op) { build_copy(op, *each, half); }));
    all.push_back(described([&](Op& op) { build_copy(op, half, *each); }));
    for (const int64_t number : {1, 2})
      all.push_back(described([&](Op& op) { build_fill(op, scalar_of(DType::i64, number), *each); }));
    for (const int axis : {0, 1}) {
      const Array rows = made(axis ? Dims{2} : Dims{6});
      for (const bool largest : {false, true})
        all.push_back(described([&](Op& op) { build_arg(op, "arg", nullptr, largest, *each, axis, rows); }));
      for (const Function* function : {&kAdd, &kSubtract})
        all.push_back(described(
            [&](Op& op) { build_scan(op, {function->name, function->name, function->i64}, *each, axis, half); }));
    }
  }
  for (const Array* each : {&x, &half}) all.push_back(described([&](Op& op) { build_zeros(op, *each); }));
  all.push_back(described([&](Op& op) { build_concatenate(op, {low, half}, 0, y); }));
  all.push_back(described([&](Op& op) { build_concatenate(op, {half, low}, 0, y); }));
  all.push_back(described([&](Op& op) { build_concatenate(op, {high, half}, 0, y); }));
  all.push_back(described([&](Op& op) { build_concatenate(op, {half, half}, 1, part(y, {2, 12}, 0)); }));
  for (const Array* each : {&other, &x})
    all.push_back(
        described([&](Op& op) { build_matmul(op, x, each == &x ? transposed(x) : other, square, kAdd.i64); }));
}

// Elements at positions, and under a mask.
void add_selections(std::vector<Described>& all) {
  const Array x = made({4, 4}), values = made({3, 4}), at = made({3}), narrow = made({3}, DType::i32), some = made({3});
  const Array mask = made({4, 4}, DType::b1), along = made({4, 4});
  const DType t = DType::i64, types[] = {t, t, t};
  Combine adding;
  adding.name = adding.ufunc = "add", adding.loop = kAdd.i64;
  std::fill_n(adding.types, 3, t);
  for (const char* name : {static_cast<const char*>(nullptr), "pick"})
    for (const Array* index : {&at, &narrow, &some}) {
      all.push_back(described([&](Op& op) { build_gather(op, x, {*index}, 0, values, name); }));
      all.push_back(described([&](Op& op) { build_gather(op, x, {*index}, 1, transposed(values), name); }));
      all.push_back(described([&](Op& op) { build_gather(op, x, {*index, at}, 0, some, name); }));
    }
  for (const bool from_end : {false, true})
    for (const int axis : {0, 1})
      all.push_back(described([&](Op& op) { build_gather_along(op, x, along, axis, made({4, 4}), "take", from_end); }));
  for (const Combine* combine : {static_cast<const Combine*>(nullptr), static_cast<const Combine*>(&adding)}) {
    all.push_back(described([&](Op& op) { build_scatter(op, x, {at}, 0, values, combine); }));
    all.push_back(described([&](Op& op) { build_scatter(op, x, {narrow}, 0, values, combine); }));
    all.push_back(described([&](Op& op) { build_scatter_along(op, x, along, 1, made({4, 4}), combine); }));
  }
  for (const int64_t offset : {0, 32})
    all.push_back(described([&](Op& op) { build_scatter(op, x, {at}, 0, part(along, {3, 4}, offset), nullptr); }));
  for (const char* name : {"put", "place"}) all.push_back(described([&](Op& op) { build_put(op, x, at, some, name); }));
  const Array* outputs[] = {&x};
  for (const int64_t number : {1, 2}) {
    const Operand inputs[] = {{&along, {}}, {nullptr, scalar_of(t, number)}};
    all.push_back(described([&](Op& op) { build_masked(op, "add", kAdd.i64, types, inputs, 2, outputs, 1, mask); }));
    all.push_back(described([&](Op& op) { build_masked(op, "copy", Loop{}, types, inputs + 1, 1, outputs, 1, mask); }));
  }
}

std::vector<Described> many() {
  const Array x = made({4, 6}), y = made({4, 6}), small = made({2, 6}), other = made({6, 4}), long_one = made({40, 6});
  const Array f = made({4, 6}, DType::f64), columns = made({6}), rows = made({4}), number = made({});
  const Array low = part(x, {2, 6}, 0), high = part(x, {2, 6}, 48);
  std::vector<Described> all;
  for (const Function* function : {&kAdd, &kSubtract}) {
    for (const Array* out : {&x, &y}) {
      all.push_back(elementwise(*function, x, &y, 0, *out));
      all.push_back(elementwise(*function, y, &x, 0, *out));
      all.push_back(elementwise(*function, x, &x, 0, *out));
    }
    for (const int64_t scalar : {2, 3}) {
      all.push_back(elementwise(*function, x, nullptr, scalar, y));
      all.push_back(elementwise(*function, f, nullptr, scalar, f));
      all.push_back(dense(*function, x, nullptr, scalar, y));
      all.push_back(dense(*function, low, nullptr, scalar, small));
      all.push_back(dense(*function, high, nullptr, scalar, small));
      all.push_back(elementwise(*function, long_one, nullptr, scalar, long_one));
    }
    all.push_back(dense(*function, x, &y, 0, made({4, 6})));
    all.push_back(dense(*function, y, &x, 0, made({4, 6})));
    all.push_back(elementwise(*function, transposed(x), &other, 0, other));
    all.push_back(elementwise(*function, other, &other, 0, transposed(x)));
    all.push_back(elementwise(*function, x, &columns, 0, y));
    for (const bool neutral : {false, true}) {
      all.push_back(reduced(*function, x, true, true, neutral, number));
      all.push_back(reduced(*function, x, true, false, neutral, columns));
      all.push_back(reduced(*function, x, false, true, neutral, rows));
      all.push_back(reduced(*function, low, true, false, neutral, columns));
      all.push_back(reduced(*function, high, true, false, neutral, columns));
      all.push_back(reduced(*function, transposed(x), true, false, neutral, rows));
      all.push_back(reduced(*function, other, true, false, neutral, rows));
    }
  }
  add_moves(all), add_selections(all);
  return all;
}

void equal_ones_have_equal_descriptions() {
  const std::vector<Described> all = many();
  size_t equal = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    check(!all[i].brief.empty(), "they are short enough");
    for (size_t k = 0; k < i; ++k) {
      if (!(all[i].brief == all[k].brief)) continue;
      check(all[i].key == all[k].key, "equal ones have equal descriptions");
      check(all[i].message == all[k].message, "and messages");
      check(all[i].brief.hash() == all[k].brief.hash(), "and equal hashes");
      ++equal;
    }
  }
  check(equal > 10, "some are equal");
}

void scalars_are_no_part_of_it() {
  const Array x = Array::make(DType::i64, {4}, budget_of(kHost));
  const Described two = elementwise(kAdd, x, nullptr, 2, x), three = elementwise(kAdd, x, nullptr, 3, x);
  check(two.brief == three.brief && two.brief.scalars() == 1, "the number does not count among the facts");
  check(two.brief.scalar(0).value[0] == 2 && three.brief.scalar(0).value[0] == 3, "it comes beside them");
}

void failing_and_long_ops_have_no_brief_description() {
  const Array x = Array::make(DType::i64, {4}, budget_of(kHost));
  const DType types[] = {DType::i64, DType::i64, DType::i64};
  const Operand inputs[] = {{&x, {}}, {&x, {}}};
  const Array* outputs[] = {&x};
  Op* op = Engine::get().make_op();
  build_elementwise(*op, "checked", kChecked.i64, types, inputs, 2, outputs, 1);
  check(BriefSpec(*op).empty(), "it may fail");
  Engine::get().discard(op);
  const Array wide = Array::make(DType::i64, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, budget_of(kHost));
  Layout every_other = wide.layout;
  for (int i = 0; i < 12; ++i) every_other.shape[i] = 1 + i % 2;
  every_other.size = 64;
  const Array part(wide.storage(), every_other);
  check(elementwise(kAdd, part, &part, 0, part).brief.empty(), "it has too many axes");
}

void a_device_describes_it_once() {
  TwoDevices devices;
  Array x = filled(kFirst, {10}, 1);
  const int before = devices.first.lowered;
  for (int i = 0; i < 10; ++i) add_number(x, i);
  check(devices.first.lowered == before + 1 && devices.first.lowered_again == 9, "the first one is described");
  check(all_are(numbers(x), 46), "with the number of each");
}

}  // namespace

int main() {
  {
    Workers workers;
    equal_ones_have_equal_descriptions();
    scalars_are_no_part_of_it();
    failing_and_long_ops_have_no_brief_description();
  }
  a_device_describes_it_once();
  return 0;
}
