// Convolutions, forward and backward. multiply_tile needs, for each term of a sum, a row of consecutive elements: here
// a row has the windows of a plane of the data. In the copy of an example's data (conv_plan.h) the elements at one
// position of all windows are the plane from some offset on. At the end of each line a few sums are computed that
// belong to no window; if these would be too many, the rows are written out, for some examples together.
#include "cpu/kernels/conv/conv.h"

#include <algorithm>

#include "cpu/kernels/conv/conv_copy.h"
#include "cpu/kernels/conv/conv_layout.h"
#include "cpu/kernels/conv/conv_panels.h"
#include "cpu/kernels/conv/conv_plan.h"
#include "cpu/kernels/gemm/microkernel.h"
#include "cpu/kernels/scratch.h"

namespace forerun {

namespace {

// Operands: source, weight, target; these are x, w, y, or for the gradient y, w, x.
class SweepKernel final : public Kernel {
 public:
  SweepKernel(const SweepPlan& plan, DType dtype, const Array& source, const Array& weight, const Array& target)
      : plan_(plan), dtype_(dtype), source_(source.layout), weight_(weight.layout), target_(target.layout) {}
  const char* name() const override { return plan_.back ? "conv_back" : "conv"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return plan_.tiles; }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void prepare(Op& op) override {
    const char* data = operand_data(op, 1, weight_.offset);
    dtype_ == DType::f32 ? panels_.pack<float>(plan_, weight_, data) : panels_.pack<double>(plan_, weight_, data);
  }
  void run(Op& op, int64_t tile) override {
    dtype_ == DType::f32 ? run_as<float>(op, plan_.tile(tile)) : run_as<double>(op, plan_.tile(tile));
  }
  bool describe(Op&, OpSpec& spec) const override {
    const Correlation& c = plan_.c;
    const bool back = plan_.back;
    const int first = describe_windows(spec, name(), name(), c);
    const ImageStrides &data = back ? target_ : source_, &results = back ? source_ : target_;
    const Layout x = data.layout(dtype_, c.examples, c.groups * c.in, c.extents, first),
                 y = results.layout(dtype_, c.examples, c.groups * c.out, c.counts, first);
    spec.input(0, back ? y : x), spec.input(1, weight_.layout(dtype_, c.groups * c.out, c.in, c.kernel, first));
    spec.output(2, back ? x : y);
    return true;
  }

 private:
  const char* source_of(Op& op, const SweepTile& tile, int64_t example) const {
    return operand_data(op, 0,
                        source_.offset + example * source_.example + tile.group * plan_.channels * source_.channel);
  }
  char* target_of(Op& op, const SweepTile& tile, int64_t example) const {
    return operand_data(op, 2, target_.offset + example * target_.example + tile.group * plan_.rows * target_.channel);
  }

  template <class T>
  void run_as(Op& op, const SweepTile& tile) {
    plan_.written_out ? run_written_out<T>(op, tile) : run_in_copies<T>(op, tile);
  }

  // The windows of one example after the other, as rows of its copy.
  template <class T>
  void run_in_copies(Op& op, const SweepTile& tile) {
    const CopyShape p = plan_.copy_shape();
    const int64_t widest = tile_columns<T>(p.plane) + tile_columns<T>(1),
                  beyond = widest;  // rows are read in full tiles, from any offset
    T* planes = scratch_of<T>(p.size + beyond + kTileRows * widest);
    T* sums = planes + p.size + beyond;
    std::fill_n(planes + p.size, beyond, T{});
    for (int64_t example = tile.first; example < tile.last; ++example) {
      copy_example(plan_, source_, p, source_of(op, tile, example), tile.band_at, planes);
      char* to = target_of(op, tile, example);
      for (const WeightPanels::Job& job : panels_.jobs()) {
        const BandPosition at = plan_.position_of(job.phase, tile.band_at);
        if (at.empty) continue;
        for (int64_t row = tile.row; row < tile.last_row; row += kTileRows) {
          const int n_rows = static_cast<int>(std::min<int64_t>(kTileRows, tile.last_row - row));
          multiply_tile(job.terms, panels_.panel<T>(job, row, tile.group), planes + at.start(p), panels_.offsets(job),
                        sums, widest, n_rows, at.span(p), false);
          for (int i = 0; i < n_rows; ++i)
            store_row(at, target_, sums + i * widest, p.extent[2], p.extent[1] * p.extent[2],
                      to + (row + i) * target_.channel);
        }
      }
    }
  }

  // The windows of some examples together, written out.
  template <class T>
  void run_written_out(Op& op, const SweepTile& tile) {
    const CopyShape p = plan_.copy_shape();
    int64_t most = 0, terms = 0;
    for (const WeightPanels::Job& job : panels_.jobs())
      most = std::max(most, plan_.position_of(job.phase, 0).windows()), terms = std::max(terms, job.terms);
    const int64_t step = tile_columns<T>(plan_.at_once * most), beyond = tile_columns<T>(p.extent[2] + 1),
                  copy_step = p.size + beyond, size_of_columns = terms * step + beyond;
    T* planes = scratch_of<T>(plan_.at_once * copy_step + size_of_columns + round_up(plan_.rows, kTileRows) * step);
    T *columns = planes + plan_.at_once * copy_step, *sums = columns + size_of_columns;
    for (int64_t example = tile.first; example < tile.last; example += plan_.at_once) {
      const int64_t n = std::min(plan_.at_once, tile.last - example);
      for (int64_t e = 0; e < n; ++e) {
        copy_example(plan_, source_, p, source_of(op, tile, example + e), 0, planes + e * copy_step);
        std::fill_n(planes + e * copy_step + p.size, beyond, T{});
      }
      for (const WeightPanels::Job& job : panels_.jobs()) {
        const BandPosition at = plan_.position_of(job.phase, 0);
        if (at.empty) continue;
        for (int64_t t = 0; t < job.terms; ++t)
          write_out_row(at, p, planes + at.start(p) + panels_.offsets(job)[t], copy_step, n, columns + t * step);
        multiply(job, tile.group, columns, step, n * at.windows(), sums);
        for (int64_t e = 0; e < n; ++e)
          for (int64_t row = 0; row < plan_.rows; ++row)
            store_row(at, target_, sums + row * step + e * at.windows(), at.count[2], at.count[1] * at.count[2],
                      target_of(op, tile, example + e) + row * target_.channel);
      }
    }
  }

  // The sums of all rows, from columns that are written out, kTerms terms after the other.
  template <class T>
  void multiply(const WeightPanels::Job& job, int64_t group, const T* columns, int64_t step, int64_t n, T* sums) const {
    int64_t offsets[kTerms];
    for (int64_t t = 0; t < kTerms; ++t) offsets[t] = t * step;
    for (int64_t t = 0; t < std::max<int64_t>(1, job.terms); t += kTerms)
      for (int64_t row = 0; row < plan_.rows; row += kTileRows)
        multiply_tile(std::min(kTerms, job.terms - t), panels_.panel<T>(job, row, group) + t * kTileRows,
                      columns + t * step, offsets, sums + row * step, step,
                      static_cast<int>(std::min<int64_t>(kTileRows, plan_.rows - row)), n, t > 0);
  }

  template <class T>
  static T* scratch_of(int64_t elements) {
    return reinterpret_cast<T*>(scratch(static_cast<size_t>(elements) * sizeof(T)));
  }

  const SweepPlan plan_;
  const DType dtype_;
  const ImageStrides source_, weight_, target_;
  WeightPanels panels_;  // by prepare(), for all tiles
};

void build_sweep(Op& op, const Correlation& what, bool back, const Array& source, const Array& w, const Array& target) {
  op.add(source.storage(), Mode::read), op.add(w.storage(), Mode::read), op.add(target.storage(), target.write_mode());
  const DType dtype = target.layout.dtype;
  op.emplace<SweepKernel>(SweepPlan(what, back, dtype), dtype, source, w, target);
  op.cost = cost_of(what);
}

}  // namespace

void build_conv(Op& op, const Correlation& what, const Array& x, const Array& w, const Array& y) {
  build_sweep(op, what, false, x, w, y);
}
void build_conv_back(Op& op, const Correlation& what, const Array& y, const Array& w, const Array& x) {
  build_sweep(op, what, true, y, w, x);
}

}  // namespace forerun
