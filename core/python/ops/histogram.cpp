// Counts in bins for host tasks, which hold NumPy's arrays.
#include "cpu/kernels/sort/bins.h"

#include <nanobind/ndarray.h>

#include <cstdint>

#include "base/error.h"
#include "python/bindings.h"
#include "python/runtime/interpreter/gil.h"

namespace forerun {

namespace {

template <class T>
using Vector = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Bins<T> bins_of(const Vector<const T>& edges, double width, size_t results) {
  if (edges.shape(0) < 2 || results + 1 != edges.shape(0))
    throw Error(ErrorKind::value, "histogram: there must be one edge more than results, got " +
                                      std::to_string(edges.shape(0)) + " and " + std::to_string(results));
  return {edges.data(), static_cast<int64_t>(results), static_cast<T>(width)};
}

template <class T>
void count(Vector<const T> x, Vector<const T> edges, double width, Vector<int64_t> counts) {
  const Bins<T> bins = bins_of<T>(edges, width, counts.shape(0));
  Unlocked unlocked;
  count_in_bins(bins, x.data(), static_cast<int64_t>(x.shape(0)), counts.data());
}

template <class T, class W>
void weigh(Vector<const T> x, Vector<const T> edges, double width, Vector<W> sums, Vector<const W> weights) {
  const Bins<T> bins = bins_of<T>(edges, width, sums.shape(0));
  if (weights.shape(0) != x.shape(0))
    throw Error(ErrorKind::value, "histogram: there must be a weight for each number, got " +
                                      std::to_string(weights.shape(0)) + " for " + std::to_string(x.shape(0)));
  Unlocked unlocked;
  weigh_in_bins(bins, x.data(), weights.data(), static_cast<int64_t>(x.shape(0)), sums.data());
}

constexpr const char* kText =
    "Adds numbers of NumPy's vectors to the counts, or their weights to the sums, of the bins between the edges.";

template <class T>
void define(Module& m) {
  m.def("count_in_bins", count<T>, nb::arg("x"), nb::arg("edges"), nb::arg("width"), nb::arg("counts"), kText);
  m.def("count_in_bins", weigh<T, float>, nb::arg("x"), nb::arg("edges"), nb::arg("width"), nb::arg("sums"),
        nb::arg("weights"), kText);
  m.def("count_in_bins", weigh<T, double>, nb::arg("x"), nb::arg("edges"), nb::arg("width"), nb::arg("sums"),
        nb::arg("weights"), kText);
}

}  // namespace

void init_histogram(Module& m) {
  define<float>(m);
  define<double>(m);
}

}  // namespace forerun
