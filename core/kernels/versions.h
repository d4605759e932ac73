// Loops compiled for vectors of 64, 32 and 16 bytes, of which the CPU's best is taken.
#pragma once
#include "base/clones.h"

namespace forerun {

// Which of the versions computes: the best that the CPU has. Tests set the others, while nothing runs.
enum class TileVersion { best, avx2, plain };
extern TileVersion tile_version;

template <class T, int bytes>
struct Vector {
  using type [[gnu::vector_size(bytes), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
};

template <int bytes>
using Floats = typename Vector<float, bytes>::type;
template <int bytes>
inline constexpr int kPlaces = bytes / static_cast<int>(sizeof(float));  // floats that have room

template <class Job>
void in_plain(const Job& job) {
  job.template run<16>();
}
template <class Job>
[[gnu::target("avx2,fma")]] void in_avx2(const Job& job) {
  job.template run<32>();
}
template <class Job>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")]] void in_avx512(const Job& job) {
  job.template run<64>();
}

// Calls job.run<bytes>(), which is FORERUN_EACH, as are the functions that it calls.
template <class Job>
void in_best_version(const Job& job) {
  using Run = void (*)(const Job&);
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  static const Run versions[] = {has_avx512() ? in_avx512<Job>
                                 : avx2       ? in_avx2<Job>
                                              : in_plain<Job>,
                                 in_avx2<Job>, in_plain<Job>};
  versions[static_cast<int>(tile_version)](job);
}

}  // namespace forerun
