#include "cpu/kernels/sort/bins.h"

#include <algorithm>
#include <vector>

#include "base/simd/simd_target.h"

namespace forerun {

namespace {

constexpr int64_t kBlock = 512, kNumpyBlock = 65'536;
constexpr int64_t kMostTwice = 4096;  // counts of which there are two lists

// Calls f(i, bin) for each number x[i] in a bin. Bins are estimated for a block of numbers at once, in a loop that is
// vectorized; the edges correct them by one.
template <class T, class F>
void each_in_bins(const Bins<T>& bins, const T* x, int64_t n, F f) {
  const T first = bins.edges[0], last = bins.edges[bins.count], count = static_cast<T>(bins.count);
  T estimated[kBlock];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t length = std::min(kBlock, n - begin);
    const T* block = x + begin;
    for (int64_t i = 0; i < length; ++i) estimated[i] = (block[i] - first) / bins.width * count;
    for (int64_t i = 0; i < length; ++i) {
      const T value = block[i];
      if (!(value >= first && value <= last)) continue;  // NaN, too
      int64_t bin = 0;                                   // also where the width is 0
      if (estimated[i] > 0) bin = std::min(static_cast<int64_t>(std::min(estimated[i], count)), bins.count - 1);
      if (value < bins.edges[bin])
        bin = std::max<int64_t>(bin - 1, 0);
      else if (bin + 1 < bins.count && value >= bins.edges[bin + 1])
        ++bin;
      f(begin + i, bin);
    }
  }
}

}  // namespace

template <class T>
void count_in_bins(const Bins<T>& bins, const T* x, int64_t n, int64_t* counts) {
  each_in_bins(bins, x, n, [&](int64_t, int64_t bin) { ++counts[bin]; });
}

template <class T, class W>
void weigh_in_bins(const Bins<T>& bins, const T* x, const W* weights, int64_t n, W* sums) {
  std::vector<double> of_block(static_cast<size_t>(bins.count));
  for (int64_t begin = 0; begin < n; begin += kNumpyBlock) {
    std::fill(of_block.begin(), of_block.end(), 0.0);
    each_in_bins(bins, x + begin, std::min(kNumpyBlock, n - begin), [&](int64_t i, int64_t bin) {
      of_block[static_cast<size_t>(bin)] += static_cast<double>(weights[begin + i]);
    });
    for (int64_t bin = 0; bin < bins.count; ++bin) sums[bin] += static_cast<W>(of_block[static_cast<size_t>(bin)]);
  }
}

FORERUN_CLONES
std::pair<int64_t, int64_t> limits_of(const int64_t* x, int64_t n) {
  if (n == 0) return {0, -1};
  int64_t least = x[0], most = x[0];
  for (int64_t i = 1; i < n; ++i) least = std::min(least, x[i]), most = std::max(most, x[i]);
  return {least, most};
}

// An addition to a count waits for the one before if both are of the same number: with a second list of counts, if that
// is short, each number's neighbour has another one.
void count_numbers(const int64_t* x, int64_t n, int64_t* counts, int64_t extent) {
  int64_t i = 0;
  if (extent <= n / 8 && extent <= kMostTwice) {
    std::vector<int64_t> others(static_cast<size_t>(extent));
    for (; i + 1 < n; i += 2) ++counts[x[i]], ++others[static_cast<size_t>(x[i + 1])];
    for (int64_t k = 0; k < extent; ++k) counts[k] += others[static_cast<size_t>(k)];
  }
  for (; i < n; ++i) ++counts[x[i]];
}

void weigh_numbers(const int64_t* x, const double* weights, int64_t n, double* sums) {
  for (int64_t i = 0; i < n; ++i) sums[x[i]] += weights[i];
}

template void count_in_bins(const Bins<float>&, const float*, int64_t, int64_t*);
template void count_in_bins(const Bins<double>&, const double*, int64_t, int64_t*);
template void weigh_in_bins(const Bins<float>&, const float*, const float*, int64_t, float*);
template void weigh_in_bins(const Bins<float>&, const float*, const double*, int64_t, double*);
template void weigh_in_bins(const Bins<double>&, const double*, const float*, int64_t, float*);
template void weigh_in_bins(const Bins<double>&, const double*, const double*, int64_t, double*);

}  // namespace forerun
