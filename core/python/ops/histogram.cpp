// Counts in bins for host tasks, which hold NumPy's arrays.
#include "cpu/kernels/sort/bins.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "python/bindings.h"
#include "python/numpy_api.h"
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

// A new NumPy vector of zeros for the counts of these numbers, `least` at least; its memory in `to`.
template <class T>
nb::object zeros_for(const Vector<const int64_t>& x, int64_t least, int typenum, T** to) {
  const auto [low, high] = limits_of(x.data(), static_cast<int64_t>(x.shape(0)));
  if (low < 0) throw Error(ErrorKind::value, "bincount: numbers must not be negative, got " + std::to_string(low));
  npy_intp extent = std::max<int64_t>(high + 1, least);
  nb::object made = checked(PyArray_ZEROS(1, &extent, typenum, 0));
  *to = static_cast<T*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made.ptr())));
  return made;
}

nb::object counted(const Vector<const int64_t>& x, int64_t least) {
  int64_t* counts;
  nb::object made = zeros_for(x, least, NPY_INT64, &counts);
  Unlocked unlocked;
  count_numbers(x.data(), static_cast<int64_t>(x.shape(0)), counts,
                PyArray_DIM(reinterpret_cast<PyArrayObject*>(made.ptr()), 0));
  return made;
}

nb::object weighed(const Vector<const int64_t>& x, int64_t least, const Vector<const double>& weights) {
  if (weights.shape(0) != x.shape(0))
    throw Error(ErrorKind::value, "bincount: there must be a weight for each number, got " +
                                      std::to_string(weights.shape(0)) + " for " + std::to_string(x.shape(0)));
  double* sums;
  nb::object made = zeros_for(x, least, NPY_DOUBLE, &sums);
  Unlocked unlocked;
  weigh_numbers(x.data(), weights.data(), static_cast<int64_t>(x.shape(0)), sums);
  return made;
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
  constexpr const char* text =
      "The counts of the numbers from 0 on in a NumPy vector, or the sums of their weights; `least` at least.";
  m.def("count_numbers", counted, nb::arg("x"), nb::arg("least"), text);
  m.def("count_numbers", weighed, nb::arg("x"), nb::arg("least"), nb::arg("weights"), text);
}

}  // namespace forerun
