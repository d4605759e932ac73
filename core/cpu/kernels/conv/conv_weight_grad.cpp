// The gradient of a convolution's weight. multiply_tile needs, for each term of a sum, a row of consecutive elements:
// here a row has the channels of the data, which is copied channels last, and the terms are the windows.
#include <algorithm>

#include "cpu/kernels/conv/conv_layout.h"
#include "cpu/kernels/conv/conv_weight_grad.h"
#include "cpu/kernels/gemm/microkernel.h"
#include "cpu/kernels/gemm/transpose.h"
#include "cpu/kernels/scratch.h"

namespace forerun {

namespace {

constexpr int64_t kSumsRoom = 1 << 19;  // bytes of sums
constexpr int64_t kSums = 128;          // terms that are added at once, at least: sums go through memory in between

class WeightKernel final : public Kernel {
 public:
  const char* name() const override { return "conv_weight"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return parts * c.groups * cuts_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override { dtype == DType::f32 ? run_as<float>(op, tile) : run_as<double>(op, tile); }
  bool describe(Op&, OpSpec& spec) const override {
    const int first = describe_windows(spec, "conv_weight", name(), c);
    spec.input(0, y.layout(dtype, c.examples, c.groups * c.out, c.counts, first));
    spec.input(1, x.layout(dtype, c.examples, c.groups * c.in, c.extents, first));
    Dims shape{parts, c.groups * c.out, c.in};
    for (int a = first; a < 3; ++a) shape.push_back(c.kernel[a]);
    Layout sums = Layout::dense(dtype, shape);
    sums.offset = sums_offset;
    spec.output(2, sums);
    return true;
  }

  void plan() {
    size_ = static_cast<int64_t>(item_size(dtype));
    joined_ = c.dilate[2] == 1 ? c.kernel[2] : 1;
    run_length_ = joined_ * c.in;
    lines_ = c.elements() / joined_;
    int64_t per_row = lines_ * tile_columns<double>(run_length_) * size_;
    int64_t most = std::clamp<int64_t>(kSumsRoom / per_row / kTileRows, 1, ceil_div(c.out, kTileRows));
    cuts_ = ceil_div(ceil_div(c.out, kTileRows), most);
    parts = c.flops() < kTileFlops
                ? 1
                : std::clamp<int64_t>(ceil_div(kTiles / 2, c.groups * cuts_), 1, std::max<int64_t>(1, c.examples));
    cut_rows_ = round_up(ceil_div(c.out, cuts_), kTileRows);
    cuts_ = ceil_div(c.out, cut_rows_);
    band_axis_ = 0;
    while (band_axis_ < 2 && c.counts[band_axis_] == 1) ++band_axis_;
    int64_t line = c.in * size_ * c.stride[band_axis_];
    for (int a = 0; a < 3; ++a) line *= a == band_axis_ ? 1 : span(a, c.counts[a]);
    band_ = std::clamp<int64_t>(kRoom / line, 1, c.counts[band_axis_]);
    together_ = band_ < c.counts[band_axis_]
                    ? 1
                    : std::clamp<int64_t>(std::min(ceil_div(kSums, c.windows()), kRoom / (line * band_)), 1,
                                          std::max<int64_t>(1, ceil_div(c.examples, parts)));
  }

  Correlation c;
  DType dtype;
  ImageStrides y, x;
  int64_t sums_offset = 0;
  int64_t parts = 1;  // of the examples

 private:
  int64_t span(int a, int64_t n) const { return (n - 1) * c.stride[a] + (c.kernel[a] - 1) * c.dilate[a] + 1; }

  // Examples that are copied together, or a band of one.
  struct Piece {
    int64_t example, examples, at, count[3], extent[3], size, windows;
  };

  template <class T>
  void run_as(Op& op, int64_t tile) {
    int64_t cut = tile % cuts_, group = tile / cuts_ % c.groups, part = tile / cuts_ / c.groups;
    int64_t first = c.examples * part / parts, last = c.examples * (part + 1) / parts;
    int64_t row = cut * cut_rows_, rows = std::min(cut_rows_, c.out - row), panels = ceil_div(rows, kTileRows);
    int64_t step = tile_columns<T>(run_length_), per_panel = lines_ * kTileRows * step;
    Piece largest = piece(first, together_, 0);
    int64_t copied = largest.size + step, packed = panels * largest.windows * kTileRows;
    size_t bytes = static_cast<size_t>((copied + packed + panels * per_panel) * size_) +
                   static_cast<size_t>(largest.windows) * sizeof(int64_t);
    int64_t* offsets = reinterpret_cast<int64_t*>(scratch(bytes));
    T *data = reinterpret_cast<T*>(offsets + largest.windows), *factors = data + copied, *sums = factors + packed;
    std::fill_n(sums, panels * per_panel, T{});
    for (int64_t example = first; example < last; example += together_)
      for (int64_t at = 0; at < c.counts[band_axis_]; at += band_) {
        Piece p = piece(example, std::min(together_, last - example), at);
        copy_padded(p, operand_data(op, 1, x.offset + group * c.in * x.channel), data, offsets);
        std::fill_n(data + p.size, step, T{});
        pack(p, operand_data(op, 0, y.offset + (group * c.out + row) * y.channel), rows, factors);
        for (int64_t i = 0; i < panels; ++i)
          for (int64_t l = 0; l < lines_; ++l)
            multiply_tile(p.windows, factors + i * p.windows * kTileRows, data + line_offset(p, l), offsets,
                          sums + i * per_panel + l * kTileRows * step, step,
                          static_cast<int>(std::min<int64_t>(kTileRows, rows - i * kTileRows)), run_length_, true);
      }
    T* to = reinterpret_cast<T*>(operand_data(op, 2, sums_offset)) +
            ((part * c.groups + group) * c.out + row) * c.in * c.elements();
    for (int64_t i = 0; i < rows; ++i, to += c.in * c.elements())
      for (int64_t l = 0; l < lines_; ++l) {
        const T* from = sums + i / kTileRows * per_panel + (l * kTileRows + i % kTileRows) * step;
        for (int64_t k = 0; k < joined_; ++k)
          for (int64_t channel = 0; channel < c.in; ++channel) to[channel * c.elements() + l * joined_ + k] = *from++;
      }
  }

  Piece piece(int64_t example, int64_t examples, int64_t at) const {
    Piece p{example, examples, at, {c.counts[0], c.counts[1], c.counts[2]}, {}, examples * c.in, examples};
    p.count[band_axis_] = std::min(band_, c.counts[band_axis_] - at);
    for (int a = 0; a < 3; ++a) p.extent[a] = span(a, p.count[a]), p.size *= p.extent[a], p.windows *= p.count[a];
    return p;
  }

  // The offset of a line of the kernel, or of an element of it, in a window.
  int64_t line_offset(const Piece& p, int64_t l) const {
    int64_t k = joined_ == 1 ? l % c.kernel[2] : 0, rest = joined_ == 1 ? l / c.kernel[2] : l;
    int64_t i = rest / c.kernel[1] * c.dilate[0], j = rest % c.kernel[1] * c.dilate[1];
    return ((i * p.extent[1] + j) * p.extent[2] + k * c.dilate[2]) * c.in;
  }

  // Copies the data with its padding, channels last, and sets the offset of each window in it.
  template <class T>
  void copy_padded(const Piece& p, const char* from, T* to, int64_t* offsets) const {
    int64_t start[3];
    for (int a = 0; a < 3; ++a) start[a] = (a == band_axis_ ? p.at * c.stride[a] : 0) - c.pad[a];
    Inside in(start[2], 1, p.extent[2], c.extents[2]);
    for (int64_t e = 0; e < p.examples; ++e)
      for (int64_t i = 0; i < p.extent[0]; ++i)
        for (int64_t j = 0; j < p.extent[1]; ++j, to += p.extent[2] * c.in) {
          int64_t u = start[0] + i, v = start[1] + j;
          if (u < 0 || u >= c.extents[0] || v < 0 || v >= c.extents[1]) {
            std::fill_n(to, p.extent[2] * c.in, T{});
            continue;
          }
          std::fill_n(to, in.begin * c.in, T{});
          std::fill_n(to + in.end * c.in, (p.extent[2] - in.end) * c.in, T{});
          transpose(
              to + in.begin * c.in,
              from + (p.example + e) * x.example + u * x.axis[0] + v * x.axis[1] + (start[2] + in.begin) * x.axis[2],
              in.end - in.begin);
        }
    for (int64_t e = 0, line = 0; e < p.examples; ++e, line += p.extent[0])
      for (int64_t i = 0; i < p.count[0]; ++i)
        for (int64_t j = 0; j < p.count[1]; ++j)
          for (int64_t k = 0; k < p.count[2]; ++k)
            *offsets++ =
                (((line + i * c.stride[0]) * p.extent[1] + j * c.stride[1]) * p.extent[2] + k * c.stride[2]) * c.in;
  }

  // Copies a line of n elements of each channel, channels last.
  template <class T>
  void transpose(T* to, const char* from, int64_t n) const {
    if (x.axis[2] == sizeof(T)) return transpose_in(from, x.channel, c.in, n, to, c.in);
    constexpr int64_t block = 16;
    for (int64_t channel = 0; channel < c.in; channel += block)
      for (int64_t k = 0, m = std::min(block, c.in - channel); k < n; ++k)
        for (int64_t i = 0; i < m; ++i)
          to[k * c.in + channel + i] = element<T>(from, (channel + i) * x.channel + k * x.axis[2]);
  }

  // Copies the results in panels: [panel][window][row].
  template <class T>
  void pack(const Piece& p, const char* from, int64_t rows, T* to) const {
    from += p.at * y.axis[band_axis_];
    for (int64_t row = 0; row < rows; row += kTileRows) {
      int64_t n = std::min<int64_t>(kTileRows, rows - row);
      for (int64_t e = 0; e < p.examples; ++e)
        for (int64_t i = 0; i < p.count[0]; ++i)
          for (int64_t j = 0; j < p.count[1]; ++j, to += p.count[2] * kTileRows) {
            const char* line = from + (p.example + e) * y.example + row * y.channel + i * y.axis[0] + j * y.axis[1];
            if (n == kTileRows && y.axis[2] == sizeof(T)) {
              transpose_in(line, y.channel, n, p.count[2], to, kTileRows);
              continue;
            }
            for (int64_t r = 0; r < kTileRows; ++r)
              for (int64_t k = 0; k < p.count[2]; ++k)
                to[k * kTileRows + r] = r < n ? element<T>(line, r * y.channel + k * y.axis[2]) : T{};
          }
    }
  }

  // Set by plan().
  int64_t size_ = 4, joined_ = 1, run_length_ = 1,
          lines_ = 1;  // elements of the kernel that are consecutive in the copy; lines of them
  int64_t cuts_ = 1, cut_rows_ = kTileRows, together_ = 1, band_ = 1;
  int band_axis_ = 1;
};

}  // namespace

int64_t conv_weight_parts(const Correlation& what, DType dtype) {
  WeightKernel k;
  k.c = what, k.dtype = dtype;
  k.plan();
  return k.parts;
}

void build_conv_weight(Op& op, const Correlation& what, const Array& y, const Array& x, const Array& sums) {
  op.add(y.storage(), Mode::read), op.add(x.storage(), Mode::read), op.add(sums.storage(), sums.write_mode());
  WeightKernel& k = op.emplace<WeightKernel>();
  k.y = ImageStrides(y.layout), k.x = ImageStrides(x.layout), k.sums_offset = sums.layout.offset;
  finish_correlation(op, k, what, sums.layout.dtype);
}

}  // namespace forerun
