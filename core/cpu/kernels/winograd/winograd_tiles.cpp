#include "cpu/kernels/winograd/winograd_tiles.h"

#include <algorithm>
#include <utility>

#include "base/simd/simd_target.h"
#include "cpu/kernels/gemm/transpose.h"

namespace forerun {

namespace {

template <int bytes>
FORERUN_EACH Floats<bytes> load(const float* from) {
  return *reinterpret_cast<const Floats<bytes>*>(from);
}
template <int bytes>
FORERUN_EACH void store(float* to, Floats<bytes> v) {
  *reinterpret_cast<Floats<bytes>*>(to) = v;
}

// Transforms one axis of four elements to the points, where two windows of three meet.
template <class F>
FORERUN_EACH void meet(const F& a, const F& b, const F& c, const F& d, F (&t)[4]) {
  t[0] = a - c, t[1] = b + c, t[2] = c - b, t[3] = b - d;
}
// Transforms one axis of a kernel of three elements to the points; and of two.
template <class F>
FORERUN_EACH void weigh(const F& a, const F& b, const F& c, F (&t)[4]) {
  F ends = a + c;
  t[0] = a, t[1] = (ends + b) / 2, t[2] = (ends - b) / 2, t[3] = c;
}
template <class F>
FORERUN_EACH void weigh(const F& a, const F& b, F (&t)[4]) {
  t[0] = a, t[1] = (a + b) / 2, t[2] = (a - b) / 2, t[3] = b;
}
template <int bytes>
FORERUN_EACH void store_four(float* to, int64_t step, const Floats<bytes> (&v)[4]) {
  for (int i = 0; i < 4; ++i) store<bytes>(to + i * step, v[i]);
}

struct TilesToPoints {
  float* const (&lines)[4];
  int64_t tiles, step;
  float* points;
  int64_t plane;

  template <int bytes>
  FORERUN_EACH void run() const {
    for (int64_t tile = 0; tile < tiles; ++tile)
      for (int64_t j = 0; j < step; j += kPlaces<bytes>) {
        Floats<bytes> t[4][4], u[4];  // t: by column of the tile
        for (int64_t k = 0; k < 4; ++k) {
          const int64_t i = (2 * tile + k) * step + j;
          meet(load<bytes>(lines[0] + i), load<bytes>(lines[1] + i), load<bytes>(lines[2] + i),
               load<bytes>(lines[3] + i), t[k]);
        }
        for (int i = 0; i < 4; ++i) {
          meet(t[0][i], t[1][i], t[2][i], t[3][i], u);
          store_four<bytes>(points + tile * step + j + 4 * i * plane, plane, u);
        }
      }
  }
};

struct PointsToTiles {
  const float* points;
  int64_t plane, tiles, step;
  float *top, *bottom, *zeros;

  template <int bytes>
  FORERUN_EACH void run() const {
    Floats<bytes> unlike = load<bytes>(zeros);
    for (int64_t tile = 0; tile < tiles; ++tile)
      for (int64_t j = 0; j < step; j += kPlaces<bytes>) {
        Floats<bytes> t[4], b[4];  // by column of the points
        for (int k = 0; k < 4; ++k) {
          const float* p = points + k * plane + tile * step + j;
          Floats<bytes> one = load<bytes>(p + 4 * plane), two = load<bytes>(p + 8 * plane);
          t[k] = load<bytes>(p) + one + two, b[k] = one - two - load<bytes>(p + 12 * plane);
        }
        const Floats<bytes> y[4] = {t[0] + t[1] + t[2], t[1] - t[2] - t[3], b[0] + b[1] + b[2], b[1] - b[2] - b[3]};
        for (const Floats<bytes>& v : y) unlike += v * 0;
        const int64_t i = 2 * tile * step + j;
        store<bytes>(top + i, y[0]), store<bytes>(top + i + step, y[1]), store<bytes>(bottom + i, y[2]),
            store<bytes>(bottom + i + step, y[3]);
      }
    store<bytes>(zeros, unlike);
  }
};

struct RowsToPoints {
  const float *top, *bottom;
  int64_t step;
  float* points;
  int64_t plane;

  template <int bytes>
  FORERUN_EACH void run() const {
    constexpr int own = bytes < 32 ? bytes : 32;
    for (int64_t j = 0; j < kTileRows; j += kPlaces<own>) {
      Floats<own> left[4], right[4], u[4];
      weigh(load<own>(top + j), load<own>(bottom + j), left),
          weigh(load<own>(top + step + j), load<own>(bottom + step + j), right);
      for (int i = 0; i < 4; ++i) {
        weigh(left[i], right[i], u);
        store_four<own>(points + j + 4 * i * plane, plane, u);
      }
    }
  }
};

struct KernelsToPoints {
  const float* w;
  bool turned;
  float* points;
  int64_t plane;

  template <int bytes>
  FORERUN_EACH void run() const {
    constexpr int own = bytes < 32 ? bytes : 32;
    for (int64_t r = 0; r < kTileRows; r += kPlaces<own>) {
      Floats<own> t[3][4], u[4];  // t: by column of the kernel
      for (int j = 0; j < 3; ++j) {
        auto element = [&](int i) { return w + (turned ? 8 - 3 * i - j : 3 * i + j) * kTileRows + r; };
        weigh(load<own>(element(0)), load<own>(element(1)), load<own>(element(2)), t[j]);
      }
      for (int i = 0; i < 4; ++i) {
        weigh(t[0][i], t[1][i], t[2][i], u);
        store_four<own>(points + r + 4 * i * plane, plane, u);
      }
    }
  }
};

struct PointsToKernels {
  const float* points;
  int64_t plane;
  float* to;
  int64_t n;

  template <int bytes>
  FORERUN_EACH void run() const {
    for (int64_t j = 0; j < n; j += kPlaces<bytes>) {
      Floats<bytes> t[3][4];
      const float* p = points + j;
      for (int k = 0; k < 4; ++k, p += plane) {
        Floats<bytes> b = load<bytes>(p + 4 * plane), c = load<bytes>(p + 8 * plane), sum = b + c;
        t[0][k] = load<bytes>(p) + sum, t[1][k] = b - c, t[2][k] = sum - load<bytes>(p + 12 * plane);
      }
      float* w = to + j;
      for (int i = 0; i < 3; ++i, w += 3 * n) {
        Floats<bytes> sum = t[i][1] + t[i][2];
        store<bytes>(w, t[i][0] + sum), store<bytes>(w + n, t[i][1] - t[i][2]), store<bytes>(w + 2 * n, sum - t[i][3]);
      }
    }
  }
};

}  // namespace

void transpose_line(const char* from, const ImageStrides& field, int64_t channels, int64_t line, int64_t first,
                    int64_t lines, int64_t extent, int64_t n, float* to, int64_t step) {
  const Inside in(first, 1, n, line >= 0 && line < lines ? extent : 0);
  std::fill_n(to, in.begin * step, 0.0F), std::fill(to + in.end * step, to + n * step, 0.0F);
  if (in.begin >= in.end) return;
  const int64_t inside = in.end - in.begin;
  from += line * field.axis[1] + (first + in.begin) * field.axis[2], to += in.begin * step;
  if (field.axis[2] == sizeof(float)) return transpose_in(from, field.channel, channels, inside, to, step);
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int64_t k = 0; k < inside; ++k)
      to[k * step + channel] = element<float>(from, channel * field.channel + k * field.axis[2]);
}

StripLines::StripLines(float* room, int64_t width, int64_t step) : width_(width), step_(step) {
  for (int64_t i = 0; i < 4; ++i) lines_[i] = room + i * size(width, step) / 4;
  std::fill_n(room, size(width, step), 0.0F);
}
void StripLines::to_points(const char* from, const ImageStrides& field, int64_t channels, const Strips::At& strip,
                           bool first, const int64_t (&pad)[2], const int64_t (&extents)[2], float* points,
                           int64_t plane) {
  const bool below = !first && strip.line > 0;
  if (below) std::swap(lines_[0], lines_[2]), std::swap(lines_[1], lines_[3]);
  for (int64_t k = below ? 2 : 0; k < 4; ++k)
    transpose_line(from, field, channels, strip.line + k - pad[0], strip.first - pad[1], extents[0], extents[1],
                   2 * width_ + 2, lines_[k], step_);
  in_best_version(TilesToPoints{lines_, width_, step_, points, plane});
}

void points_to_tiles(const float* points, int64_t plane, int64_t tiles, int64_t step, float* top, float* bottom,
                     float* zeros) {
  in_best_version(PointsToTiles{points, plane, tiles, step, top, bottom, zeros});
}
void rows_to_points(const float* top, const float* bottom, int64_t step, float* points, int64_t plane) {
  in_best_version(RowsToPoints{top, bottom, step, points, plane});
}
void kernels_to_points(const float* w, bool turned, float* points, int64_t plane) {
  in_best_version(KernelsToPoints{w, turned, points, plane});
}
void points_to_kernels(const float* points, int64_t plane, float* to, int64_t n) {
  in_best_version(PointsToKernels{points, plane, to, n});
}

}  // namespace forerun
