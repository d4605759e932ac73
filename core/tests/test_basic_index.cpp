// Views that basic indices select, compared with elements enumerated one by one.
#include "array/basic_index.h"

#include <cstdio>
#include <vector>

#include "base/error.h"
#include "program.h"

using namespace forerun;
using forerun::test::check;

namespace {

Layout vector_of(int64_t n) { return Layout::dense(DType::f64, Dims{n}); }

// The positions that Python's slice(start, stop, step) selects of n, by its definition.
std::vector<int64_t> positions(int64_t n, int64_t start, int64_t stop, int64_t step) {
  auto from_end = [&](int64_t i) { return i < 0 ? i + n : i; };
  start = from_end(start), stop = from_end(stop);
  if (step > 0 && start < 0) start = 0;
  if (step < 0 && start >= n) start = n - 1;
  std::vector<int64_t> all;
  for (int64_t i = start; step > 0 ? i < stop && i < n : i > stop && i >= 0; i += step)
    if (i >= 0 && i < n) all.push_back(i);
  return all;
}

void slices() {
  for (int64_t n : {0, 1, 5})
    for (int64_t start = -7; start <= 7; ++start)
      for (int64_t stop = -7; stop <= 7; ++stop)
        for (int64_t step : {-3, -2, -1, 1, 2, 3}) {
          Layout from = vector_of(n);
          BasicIndex index(from, 1, 0);
          index.slice(start, stop, step);
          Layout to = index.selected();
          std::vector<int64_t> expected = positions(n, start, stop, step);
          check(to.shape[0] == static_cast<int64_t>(expected.size()), "a slice has its elements");
          for (size_t i = 0; i < expected.size(); ++i)
            check(to.offset + static_cast<int64_t>(i) * to.strides[0] == expected[i] * 8, "each at its place");
        }
}

template <class F>
bool refused(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.kind == ErrorKind::index;
  }
  return false;
}

void entries() {
  Layout from = Layout::dense(DType::f64, Dims{2, 3, 4, 5});
  BasicIndex index(from, 2, 1);
  index.integer(-1), index.ellipsis(), index.new_axis(), index.integer(2);
  Layout to = index.selected();
  check(to.shape == Dims{3, 4, 1} && to.offset == (60 + 2) * 8, "an ellipsis stands for the axes in the middle");
  check(!index.single(), "axes are left");
  BasicIndex all(from, 4, 0);
  for (int i = 0; i < 4; ++i) all.integer(1);
  check(all.selected().offset == (60 + 20 + 5 + 1) * 8 && all.single(), "integers name one element");
  check(refused([&] { BasicIndex(from, 5, 0); }), "there are only four axes");
  check(refused([&] { BasicIndex(from, 0, 2); }), "one ellipsis at most");
  check(refused([&] { BasicIndex(from, 1, 0).integer(2); }), "an integer is in range");
  check(refused([&] {
          BasicIndex many(from, 0, 0);
          for (int i = 0; i < kMaxDims; ++i) many.new_axis();
          many.selected();
        }),
        "there are not endlessly many axes");
}

}  // namespace

int main() {
  slices();
  entries();
  std::puts("all as they should be");
}
