// Convolutions forward and back. multiply_tile wants, for each term of a sum, a row of elements that follow one
// another: here a row has the windows of a plane of the data. The data of an example is copied with its padding,
// elements that are a stride apart next to each other ("phases": with stride 2, the even and the odd ones): then the
// elements at one place of all windows are the plane from some offset on. At the end of each line a few sums are made
// that belong to no window; where these would be too many, the rows are written out, for some examples together.
#include "cpu/kernels/conv/conv.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "cpu/kernels/conv/conv_layout.h"
#include "cpu/kernels/gemm/microkernel.h"
#include "cpu/kernels/scratch.h"

namespace forerun {

namespace {

constexpr int64_t kAtOnce = 48;  // windows of several examples, where rows are written out; and rows that stay

class SweepKernel final : public Kernel {
 public:
  const char* name() const override { return back ? "conv_back" : "conv"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void prepare(Op& op) override { dtype == DType::f32 ? pack<float>(op) : pack<double>(op); }
  void run(Op& op, int64_t tile) override { dtype == DType::f32 ? run_as<float>(op, tile) : run_as<double>(op, tile); }
  bool describe(Op&, OpSpec& spec) const override {
    const int first = describe_windows(spec, back ? "conv_back" : "conv", name(), c);
    const ImageStrides &data = back ? target : source, &results = back ? source : target;
    const Layout x = data.layout(dtype, c.examples, c.groups * c.in, c.extents, first),
                 y = results.layout(dtype, c.examples, c.groups * c.out, c.counts, first);
    spec.input(0, back ? y : x), spec.input(1, weight.layout(dtype, c.groups * c.out, c.in, c.kernel, first));
    spec.output(2, back ? x : y);
    return true;
  }

  void plan() {
    size_ = static_cast<int64_t>(item_size(dtype));
    rows_ = back ? c.in : c.out, channels_ = back ? c.out : c.in;
    phases_ = 1;
    for (int a = 0; a < 3; ++a) {
      reach_[a] = (c.kernel[a] - 1) * c.dilate[a] / c.stride[a];
      first_[a] = back ? c.pad[a] / c.stride[a] : 0;
      n_[a] = back ? (c.extents[a] - 1 + c.pad[a]) / c.stride[a] + 1 - first_[a] : c.counts[a];
      phases_ *= source_phases(a);
    }
    band_axis_ = 0;
    while (band_axis_ < 2 && n_[band_axis_] == 1) ++band_axis_;
    int64_t line = channels_ * phases_ * size_;  // bytes of the copy for one step along that axis
    for (int a = 0; a < 3; ++a) line *= a == band_axis_ ? 1 : n_[a] + reach_[a];
    band_ = std::clamp<int64_t>(kRoom / line - reach_[band_axis_], 1, n_[band_axis_]);
    bands_ = ceil_div(n_[band_axis_], band_);
    band_ = ceil_div(n_[band_axis_], bands_);
    cuts_ = 1, together_ = 1;
    int64_t places = c.examples * c.groups * bands_;
    if (bands_ == 1)
      together_ = std::clamp<int64_t>(static_cast<int64_t>(kTileFlops * static_cast<double>(places) / c.flops()), 1,
                                      std::max<int64_t>(1, c.examples / kTiles));
    if (places < kTiles) cuts_ = std::clamp<int64_t>(ceil_div(kTiles, places), 1, ceil_div(rows_, kTileRows));
    if (c.flops() < kTileFlops) cuts_ = 1;
    cut_rows_ = round_up(ceil_div(rows_, cuts_), kTileRows);
    cuts_ = ceil_div(rows_, cut_rows_);
    tiles_ = ceil_div(c.examples, together_) * c.groups * bands_ * cuts_;
    int64_t windows = 1, span = 0;
    for (int a = 0; a < 3; ++a) windows *= n_[a], span = span * (n_[a] + reach_[a]) + n_[a] - 1;
    written_out_ =
        bands_ == 1 && cuts_ == 1 && rows_ >= 2 * kTileRows && 3 * windows < 2 * tile_columns<float>(span + 1);
    if (written_out_) at_once_ = std::min(ceil_div(kAtOnce, windows), together_);
  }

  Correlation c;
  DType dtype;
  bool back;
  ImageStrides source, weight, target;  // x, w, y; or back: y, w, x

 private:
  // Results at places that are a stride apart: all of them forward; back, those of one phase.
  struct Job {
    int64_t phase[3] = {0, 0, 0};
    size_t panels = 0, offsets = 0;  // where those of the job begin
    int64_t terms = 0;
  };

  // A copy of an example's data: planes[channel][phase][extent 0][extent 1][extent 2], and what is read beyond the end.
  struct Copy {
    int64_t extent[3], plane, size;
  };

  // The first element of the source, along an axis, that a copy has of a phase.
  int64_t source_first(int a, int64_t phase, int64_t band_first) const {
    return back ? band_first - reach_[a] : band_first * c.stride[a] + phase - c.pad[a];
  }
  int64_t source_step(int a) const { return back ? 1 : c.stride[a]; }
  int64_t source_extent(int a) const { return back ? c.counts[a] : c.extents[a]; }
  // Forward, only phases that the kernel reaches are copied: those of its first places, after which they repeat.
  int64_t period(int a) const { return c.stride[a] / std::gcd(c.stride[a], c.dilate[a]); }
  int64_t source_phases(int a) const { return back ? 1 : std::min(c.kernel[a], period(a)); }
  int64_t phase_at(int a, int64_t number) const { return back ? 0 : number * c.dilate[a] % c.stride[a]; }
  int64_t length(int a) const { return a == band_axis_ ? band_ : n_[a]; }

  template <class F>
  static void each_place(const int64_t (&n)[3], F f) {
    for (int64_t i = 0; i < n[0]; ++i)
      for (int64_t j = 0; j < n[1]; ++j)
        for (int64_t k = 0; k < n[2]; ++k) f(i, j, k);
  }

  Copy copy() const {
    Copy p{};
    for (int a = 0; a < 3; ++a) p.extent[a] = length(a) + reach_[a];
    if (band_axis_ < 2) {  // zeros at the end of a line may be those at the beginning of the next
      int64_t before = p.extent[2], after = p.extent[2];
      for (int64_t phase = 0; phase < source_phases(2); ++phase) {
        Inside in(source_first(2, phase_at(2, phase), first_[2]), source_step(2), p.extent[2], source_extent(2));
        before = std::min(before, in.begin), after = std::min(after, p.extent[2] - in.end);
      }
      p.extent[2] -= std::min({before, after, p.extent[2] - 1});
    }
    p.plane = p.extent[0] * p.extent[1] * p.extent[2];
    p.size = channels_ * phases_ * p.plane;
    return p;
  }

  // Called once in each run: the weight in panels, and the offsets of their terms.
  template <class T>
  void pack(Op& op) {
    Copy p = copy();
    jobs_.clear(), offsets_.clear();
    size_t n_panels = static_cast<size_t>(ceil_div(rows_, kTileRows)), elements = 0;
    std::vector<int64_t> sources;  // of each term: its place in the weight
    auto terms_of = [&](const int64_t(&phase)[3]) {
      Job job;
      job.offsets = offsets_.size(), job.panels = elements;
      std::copy(phase, phase + 3, job.phase);
      for (int64_t channel = 0; channel < channels_; ++channel)
        each_place(c.kernel, [&](int64_t i, int64_t j, int64_t k) {
          const int64_t at[3] = {i, j, k};
          int64_t offset = 0, from = channel * (back ? weight.example : weight.channel), index = 0;
          for (int a = 0; a < 3; ++a) {
            int64_t place = at[a] * c.dilate[a];
            if (back && place % c.stride[a] != phase[a]) return;
            index = index * source_phases(a) + (back ? 0 : at[a] % period(a));
            offset = offset * p.extent[a] + (back ? reach_[a] - place / c.stride[a] : place / c.stride[a]);
            from += at[a] * weight.axis[a];
          }
          offsets_.push_back((channel * phases_ + index) * p.plane + offset);
          sources.push_back(from);
        });
      job.terms = static_cast<int64_t>(offsets_.size() - job.offsets);
      elements += n_panels * static_cast<size_t>(job.terms) * kTileRows;
      jobs_.push_back(job);
    };
    if (back)
      each_place(c.stride, [&](int64_t i, int64_t j, int64_t k) { terms_of({i, j, k}); });
    else
      terms_of({0, 0, 0});
    per_group_ = elements;
    packed_.assign(static_cast<size_t>(c.groups) * elements * sizeof(T), 0);
    T* to = reinterpret_cast<T*>(packed_.data());
    const char* w = operand_data(op, 1, weight.offset);
    int64_t row_step = back ? weight.channel : weight.example;
    for (int64_t g = 0; g < c.groups; ++g, w += c.out * weight.example)
      for (const Job& job : jobs_)
        for (int64_t row = 0; row < static_cast<int64_t>(n_panels) * kTileRows; row += kTileRows)
          for (int64_t t = 0, n = std::min<int64_t>(kTileRows, rows_ - row); t < job.terms; ++t, to += kTileRows) {
            const char* from = w + row * row_step + sources[job.offsets + static_cast<size_t>(t)];
            if (n == kTileRows)
              for (int64_t i = 0; i < kTileRows; ++i) to[i] = element<T>(from, i * row_step);
            else
              for (int64_t i = 0; i < n; ++i) to[i] = element<T>(from, i * row_step);
          }
  }

  template <class T>
  void run_as(Op& op, int64_t tile) {
    if (written_out_) return run_written_out<T>(op, tile);
    int64_t cut = tile % cuts_, band_at = tile / cuts_ % bands_ * band_, group = tile / cuts_ / bands_ % c.groups,
            first = tile / cuts_ / bands_ / c.groups * together_;
    Copy p = copy();
    int64_t widest = tile_columns<T>(p.plane) + tile_columns<T>(1),
            beyond = widest;  // rows are read in full tiles, from any offset
    char* room = scratch(static_cast<size_t>((p.size + beyond + kTileRows * widest) * size_));
    T *planes = reinterpret_cast<T*>(room), *sums = planes + p.size + beyond;
    std::fill_n(planes + p.size, beyond, T{});
    for (int64_t example = first, end = std::min(c.examples, first + together_); example < end; ++example) {
      fill(planes, p,
           operand_data(op, 0, source.offset + example * source.example + group * channels_ * source.channel), band_at);
      char* to = operand_data(op, 2, target.offset + example * target.example + group * rows_ * target.channel);
      for (const Job& job : jobs_) {
        BandPosition at = position_of(job, band_at);
        if (at.empty) continue;
        int64_t start = (at.begin[0] * p.extent[1] + at.begin[1]) * p.extent[2] + at.begin[2];
        int64_t span = ((at.count[0] - 1) * p.extent[1] + at.count[1] - 1) * p.extent[2] + at.count[2];
        for (int64_t row = cut * cut_rows_, last = std::min(rows_, row + cut_rows_); row < last; row += kTileRows) {
          int n_rows = static_cast<int>(std::min<int64_t>(kTileRows, last - row));
          multiply_tile(job.terms, panel_of<T>(job, row, group), planes + start, offsets_.data() + job.offsets, sums,
                        widest, n_rows, span, false);
          for (int i = 0; i < n_rows; ++i)
            store(at, sums + i * widest, p.extent[2], p.extent[1] * p.extent[2], to + (row + i) * target.channel);
        }
      }
    }
  }

  template <class T>
  void fill(T* to, const Copy& p, const char* from, int64_t band_at) const {
    const int64_t n[3] = {source_phases(0), source_phases(1), source_phases(2)};
    for (int64_t channel = 0; channel < channels_; ++channel, from += source.channel)
      each_place(n, [&](int64_t i, int64_t j, int64_t k) {
        plane(to, p, from, {phase_at(0, i), phase_at(1, j), phase_at(2, k)}, band_at);
        to += p.plane;
      });
  }

  template <class T>
  void plane(T* to, const Copy& p, const char* from, const int64_t (&phase)[3], int64_t band_at) const {
    int64_t start[3];
    for (int a = 0; a < 3; ++a) start[a] = source_first(a, phase[a], first_[a] + (a == band_axis_ ? band_at : 0));
    Inside along(start[2], source_step(2), p.extent[2], source_extent(2));
    int64_t step = source_step(2) * source.axis[2];
    for (int64_t i = 0; i < p.extent[0]; ++i)
      for (int64_t j = 0; j < p.extent[1]; ++j, to += p.extent[2]) {
        int64_t u = start[0] + i * source_step(0), v = start[1] + j * source_step(1);
        bool inside = u >= 0 && u < source_extent(0) && v >= 0 && v < source_extent(1) && along.begin < along.end;
        int64_t begin = inside ? along.begin : 0, end = inside ? along.end : 0;
        std::fill(to, to + begin, T{}), std::fill(to + end, to + p.extent[2], T{});
        if (inside)
          gather(to + begin, from + u * source.axis[0] + v * source.axis[1] + start[2] * source.axis[2] + begin * step,
                 step, end - begin);
      }
  }

  // The results of a job in a band, along the axes: numbers of them, counted from the band's first; and elements of the
  // target.
  struct BandPosition {
    int64_t begin[3], count[3], first[3], step[3];
    bool empty = false;
    int64_t windows() const { return count[0] * count[1] * count[2]; }
  };
  BandPosition position_of(const Job& job, int64_t band_at) const {
    BandPosition at;
    for (int a = 0; a < 3; ++a) {
      int64_t low = first_[a] + (a == band_axis_ ? band_at : 0),
              n = a == band_axis_ ? std::min(band_, n_[a] - band_at) : n_[a];
      at.step[a] = back ? c.stride[a] : 1;
      at.first[a] = back ? low * c.stride[a] + job.phase[a] - c.pad[a] : low;
      Inside in(at.first[a], at.step[a], n, back ? c.extents[a] : c.counts[a]);
      at.begin[a] = in.begin, at.count[a] = in.end - in.begin, at.first[a] += in.begin * at.step[a];
      at.empty = at.empty || at.count[a] <= 0;
    }
    return at;
  }
  template <class T>
  const T* panel_of(const Job& job, int64_t row, int64_t group) const {
    return reinterpret_cast<const T*>(packed_.data()) + static_cast<size_t>(group) * per_group_ + job.panels +
           static_cast<size_t>(row * job.terms);
  }

  // Sums of one row into the target. Lines and planes of sums are so many elements apart.
  template <class T>
  void store(const BandPosition& at, const T* from, int64_t line, int64_t plane, char* to) const {
    for (int64_t u = 0; u < at.count[0]; ++u)
      for (int64_t v = 0; v < at.count[1]; ++v) {
        char* first = to + (at.first[0] + u * at.step[0]) * target.axis[0] +
                      (at.first[1] + v * at.step[1]) * target.axis[1] + at.first[2] * target.axis[2];
        spread(reinterpret_cast<T*>(first), from + u * plane + v * line, at.step[2], at.count[2]);
      }
  }

  template <class T>
  void run_written_out(Op& op, int64_t tile) {
    int64_t group = tile % c.groups, first = tile / c.groups * together_,
            last = std::min(c.examples, first + together_);
    const char* from = operand_data(op, 0, source.offset + group * channels_ * source.channel);
    char* to = operand_data(op, 2, target.offset + group * rows_ * target.channel);
    int64_t most = 0, terms = 0;
    for (const Job& job : jobs_)
      most = std::max(most, position_of(job, 0).windows()), terms = std::max(terms, job.terms);
    Copy p = copy();
    const int64_t step = tile_columns<T>(at_once_ * most), beyond = tile_columns<T>(p.extent[2] + 1);
    T* planes = reinterpret_cast<T*>(scratch(static_cast<size_t>(
        (at_once_ * (p.size + beyond) + terms * step + beyond + round_up(rows_, kTileRows) * step) * size_)));
    T *columns = planes + at_once_ * (p.size + beyond), *sums = columns + terms * step + beyond;
    int64_t offsets[kTerms];
    for (int64_t t = 0; t < kTerms; ++t) offsets[t] = t * step;
    for (int64_t example = first; example < last; example += at_once_) {
      int64_t n = std::min(at_once_, last - example);
      for (int64_t e = 0; e < n; ++e) {
        T* of = planes + e * (p.size + beyond);
        fill(of, p, from + (example + e) * source.example, 0);
        std::fill_n(of + p.size, beyond, T{});
      }
      for (const Job& job : jobs_) {
        BandPosition at = position_of(job, 0);
        if (at.empty) continue;
        write_out(job, at, p, planes, p.size + beyond, n, columns, step);
        for (int64_t t = 0; t < std::max<int64_t>(1, job.terms); t += kTerms)
          for (int64_t row = 0; row < rows_; row += kTileRows)
            multiply_tile(std::min(kTerms, job.terms - t), panel_of<T>(job, row, group) + t * kTileRows,
                          columns + t * step, offsets, sums + row * step, step,
                          static_cast<int>(std::min<int64_t>(kTileRows, rows_ - row)), n * at.windows(), t > 0);
        for (int64_t e = 0; e < n; ++e)
          for (int64_t row = 0; row < rows_; ++row)
            store(at, sums + row * step + e * at.windows(), at.count[2], at.count[1] * at.count[2],
                  to + (example + e) * target.example + row * target.channel);
      }
    }
  }

  // For each term a row: its factors for all windows of n examples. Lines are copied in order, short ones with the
  // bytes behind them, which the next one overwrites.
  template <class T>
  void write_out(const Job& job, const BandPosition& at, const Copy& p, const T* planes, int64_t example_step,
                 int64_t n, T* columns, int64_t step) const {
    int64_t start = (at.begin[0] * p.extent[1] + at.begin[1]) * p.extent[2] + at.begin[2], length = at.count[2];
    bool small = length <= tile_columns<T>(1);
    for (int64_t t = 0; t < job.terms; ++t) {
      T* to = columns + t * step;
      const T* from = planes + start + offsets_[job.offsets + static_cast<size_t>(t)];
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
  }

  // Set by plan().
  int64_t size_ = 4, rows_ = 0, channels_ = 0;  // rows: channels of the target, in a group; channels: of the source
  int64_t reach_[3], first_[3],
      n_[3];  // results are first_ to first_ + n_, counted in strides; each looks at reach_ + 1 places
  int64_t phases_ = 1;
  int band_axis_ = 0;  // along which a large example is computed in bands
  int64_t band_ = 1, bands_ = 1, cuts_ = 1, cut_rows_ = 8, together_ = 1, tiles_ = 1;
  bool written_out_ = false;  // then so many examples
  int64_t at_once_ = 1;       // are computed together

  // Set by prepare(), for all tiles.
  std::vector<Job> jobs_;
  std::vector<int64_t> offsets_;
  std::vector<char> packed_;  // [group][job][panel][term][row of the panel]
  size_t per_group_ = 0;      // elements
};

void build_sweep(Op& op, const Correlation& what, bool back, const Array& source, const Array& w, const Array& target) {
  op.add(source.storage(), Mode::read), op.add(w.storage(), Mode::read), op.add(target.storage(), target.write_mode());
  SweepKernel& k = op.emplace<SweepKernel>();
  k.back = back, k.source = ImageStrides(source.layout), k.weight = ImageStrides(w.layout),
  k.target = ImageStrides(target.layout);
  finish_correlation(op, k, what, target.layout.dtype);
}

}  // namespace

void build_conv(Op& op, const Correlation& what, const Array& x, const Array& w, const Array& y) {
  build_sweep(op, what, false, x, w, y);
}
void build_conv_back(Op& op, const Correlation& what, const Array& y, const Array& w, const Array& x) {
  build_sweep(op, what, true, y, w, x);
}

}  // namespace forerun
