// The weight of a convolution in panels, as multiply_tile reads it, and the offset of each term's row in a copy of
// data.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/kernels/conv/conv_layout.h"
#include "cpu/kernels/conv/conv_plan.h"
#include "cpu/kernels/gemm/microkernel.h"

namespace forerun {

// Packed once in each run, before the tiles, which read it.
class WeightPanels {
 public:
  // The terms of the results of one phase.
  struct Job {
    Phase phase = {0, 0, 0};
    size_t panels = 0, offsets = 0;  // where the job's begin
    int64_t terms = 0;
  };

  template <class T>
  void pack(const SweepPlan& plan, const ImageStrides& weight, const char* data) {
    std::vector<int64_t> sources;  // of each term: its offset in the weight
    const CopyShape p = plan.copy_shape();
    jobs_.clear(), offsets_.clear(), per_group_ = 0;
    if (plan.back)
      each_place(plan.c.stride, [&](int64_t i, int64_t j, int64_t k) { add_job(plan, p, weight, {i, j, k}, sources); });
    else
      add_job(plan, p, weight, {0, 0, 0}, sources);
    packed_.assign(static_cast<size_t>(plan.c.groups) * per_group_ * sizeof(T), 0);
    T* to = reinterpret_cast<T*>(packed_.data());
    const int64_t row_step = plan.back ? weight.channel : weight.example;
    for (int64_t g = 0; g < plan.c.groups; ++g, data += plan.c.out * weight.example)
      for (const Job& job : jobs_)
        for (int64_t row = 0; row < plan.rows; row += kTileRows)
          to = pack_rows(to, data + row * row_step, row_step, std::min<int64_t>(kTileRows, plan.rows - row),
                         sources.data() + job.offsets, job.terms);
  }

  const std::vector<Job>& jobs() const { return jobs_; }
  const int64_t* offsets(const Job& job) const { return offsets_.data() + job.offsets; }
  template <class T>
  const T* panel(const Job& job, int64_t row, int64_t group) const {
    return reinterpret_cast<const T*>(packed_.data()) + static_cast<size_t>(group) * per_group_ + job.panels +
           static_cast<size_t>(row * job.terms);
  }

 private:
  void add_job(const SweepPlan& plan, const CopyShape& p, const ImageStrides& weight, const Phase& phase,
               std::vector<int64_t>& sources) {
    const Correlation& c = plan.c;
    Job job;
    job.offsets = offsets_.size(), job.panels = per_group_;
    std::copy(phase, phase + 3, job.phase);
    for (int64_t channel = 0; channel < plan.channels; ++channel)
      each_place(c.kernel, [&](int64_t i, int64_t j, int64_t k) {
        const int64_t at[3] = {i, j, k};
        int64_t offset = 0, from = channel * (plan.back ? weight.example : weight.channel), index = 0;
        for (int a = 0; a < 3; ++a) {
          int64_t place = at[a] * c.dilate[a], step = place / c.stride[a];
          if (plan.back && place % c.stride[a] != phase[a]) return;
          index = index * plan.source_phases(a) + (plan.back ? 0 : at[a] % plan.period(a));
          offset = offset * p.extent[a] + (plan.back ? plan.reach[a] - step : step);
          from += at[a] * weight.axis[a];
        }
        offsets_.push_back((channel * plan.phases + index) * p.plane + offset);
        sources.push_back(from);
      });
    job.terms = static_cast<int64_t>(offsets_.size() - job.offsets);
    per_group_ += static_cast<size_t>(round_up(plan.rows, kTileRows) * job.terms);
    jobs_.push_back(job);
  }

  // One panel: for each term, the weights of n rows and zeros up to a whole tile.
  template <class T>
  static T* pack_rows(T* to, const char* from, int64_t row_step, int64_t n, const int64_t* sources, int64_t terms) {
    for (int64_t t = 0; t < terms; ++t, to += kTileRows) {
      const char* term = from + sources[t];
      if (n == kTileRows)
        for (int64_t i = 0; i < kTileRows; ++i) to[i] = element<T>(term, i * row_step);
      else
        for (int64_t i = 0; i < n; ++i) to[i] = element<T>(term, i * row_step);
    }
    return to;
  }

  std::vector<Job> jobs_;
  std::vector<int64_t> offsets_;
  std::vector<char> packed_;  // [group][job][panel][term][row of the panel]
  size_t per_group_ = 0;      // elements
};

}  // namespace forerun
