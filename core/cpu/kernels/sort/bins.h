// Counts of numbers in bins of one width.
#pragma once
#include <cstdint>
#include <utility>

namespace forerun {

// Bins between rising edges, `count` + 1 of them. A bin contains its lower edge, and the last one its upper edge, too.
// width: of all bins together, rounded as NumPy's histogram rounds it: that decides the bin of a number beside an edge.
template <class T>
struct Bins {
  const T* edges;
  int64_t count;
  T width;
};

// Adds the numbers to the counts of their bins; those outside of all bins are left out.
template <class T>
void count_in_bins(const Bins<T>& bins, const T* x, int64_t n, int64_t* counts);

// Adds the weight of each number to the sum of its bin, in NumPy's order: sums over 65,536 numbers, in double
// precision.
template <class T, class W>
void weigh_in_bins(const Bins<T>& bins, const T* x, const W* weights, int64_t n, W* sums);

// The least and the greatest of n numbers; 0 and -1 if n is 0.
std::pair<int64_t, int64_t> limits_of(const int64_t* x, int64_t n);
// Adds one to the count of each number, or its weight to its sum, in their order. Counts and sums are of `extent`
// numbers from 0 on, and all of x are among these.
void count_numbers(const int64_t* x, int64_t n, int64_t* counts, int64_t extent);
void weigh_numbers(const int64_t* x, const double* weights, int64_t n, double* sums);

}  // namespace forerun
