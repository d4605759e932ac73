// Copies of an example's data with its padding for a convolution (conv_plan.h), and of results to their places.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu/kernels/conv/conv_layout.h"
#include "cpu/kernels/conv/conv_plan.h"
#include "cpu/kernels/gemm/microkernel.h"

namespace forerun {

// The elements of one channel and one phase.
template <class T>
void copy_plane(const SweepPlan& plan, const ImageStrides& source, const CopyShape& p, const char* from,
                const Phase& phase, int64_t band_at, T* to) {
  int64_t start[3];
  for (int a = 0; a < 3; ++a)
    start[a] = plan.source_first(a, phase[a], plan.first[a] + (a == plan.band_axis ? band_at : 0));
  const Inside along(start[2], plan.source_step(2), p.extent[2], plan.source_extent(2));
  const int64_t step = plan.source_step(2) * source.axis[2];
  for (int64_t i = 0; i < p.extent[0]; ++i)
    for (int64_t j = 0; j < p.extent[1]; ++j, to += p.extent[2]) {
      const int64_t u = start[0] + i * plan.source_step(0), v = start[1] + j * plan.source_step(1);
      const bool inside =
          u >= 0 && u < plan.source_extent(0) && v >= 0 && v < plan.source_extent(1) && along.begin < along.end;
      const int64_t begin = inside ? along.begin : 0, end = inside ? along.end : 0;
      std::fill(to, to + begin, T{}), std::fill(to + end, to + p.extent[2], T{});
      if (inside)
        gather(to + begin, from + u * source.axis[0] + v * source.axis[1] + start[2] * source.axis[2] + begin * step,
               step, end - begin);
    }
}

// All channels of an example in a group.
template <class T>
void copy_example(const SweepPlan& plan, const ImageStrides& source, const CopyShape& p, const char* from,
                  int64_t band_at, T* to) {
  const int64_t n[3] = {plan.source_phases(0), plan.source_phases(1), plan.source_phases(2)};
  for (int64_t channel = 0; channel < plan.channels; ++channel, from += source.channel)
    each_place(n, [&](int64_t i, int64_t j, int64_t k) {
      copy_plane(plan, source, p, from, {plan.phase_at(0, i), plan.phase_at(1, j), plan.phase_at(2, k)}, band_at, to);
      to += p.plane;
    });
}

// A row for one term: its factors for all windows of n examples, whose copies are example_step apart. Lines are copied
// in order, short ones together with the bytes behind them, which the next line overwrites.
template <class T>
void write_out_row(const BandPosition& at, const CopyShape& p, const T* from, int64_t example_step, int64_t n, T* to) {
  const int64_t length = at.count[2];
  const bool small = length <= tile_columns<T>(1);
  for (int64_t e = 0; e < n; ++e, from += example_step)
    for (int64_t u = 0; u < at.count[0]; ++u)
      for (int64_t v = 0; v < at.count[1]; ++v, to += length) {
        const T* line = from + (u * p.extent[1] + v) * p.extent[2];
        if (small)
          std::memcpy(to, line, kTileBytes);
        else
          copy_line(to, line, length);
      }
}

// Adds the sums of one row to the target. Lines and planes of sums are so many elements apart.
template <class T>
void store_row(const BandPosition& at, const ImageStrides& target, const T* from, int64_t line, int64_t plane,
               char* to) {
  for (int64_t u = 0; u < at.count[0]; ++u)
    for (int64_t v = 0; v < at.count[1]; ++v) {
      char* first = to + (at.first[0] + u * at.step[0]) * target.axis[0] +
                    (at.first[1] + v * at.step[1]) * target.axis[1] + at.first[2] * target.axis[2];
      spread(reinterpret_cast<T*>(first), from + u * plane + v * line, at.step[2], at.count[2]);
    }
}

}  // namespace forerun
