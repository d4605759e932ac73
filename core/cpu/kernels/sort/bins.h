// Counts of numbers in bins of one width.
#pragma once
#include <cstdint>

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

}  // namespace forerun
