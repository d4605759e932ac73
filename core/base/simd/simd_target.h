// Functions compiled for several processors; the best version is chosen when the program runs.
//
// Vector code is written with the compiler's vectors of 64, 32 or 16 bytes (Vector below), which every processor
// supports; only this file has code for the instructions of one kind of processor.
#pragma once

// Marks functions that are inlined into each version of a function compiled for several processors.
#define FORERUN_EACH [[gnu::always_inline]] inline

#if defined(__x86_64__)
#define FORERUN_AVX2 [[gnu::target("avx2,fma")]]
#define FORERUN_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")]]
#else
#define FORERUN_AVX2  // compiled, and never chosen
#define FORERUN_AVX512
#endif

// Marks a loop that the compiler vectorises.
#if !defined(__x86_64__) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FORERUN_CLONES  // on x86-64 the choice is made before a sanitizer is ready
#else
#define FORERUN_CLONES [[gnu::target_clones("avx512f", "avx2", "default")]]
#endif

namespace forerun {

// Whether the processor has AVX2 and FMA,
inline bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// and all parts of AVX-512 that the kernels use.
inline bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

// The version in use: by default the best that the processor supports. Tests select others, while nothing runs.
enum class TileVersion { best, avx2, plain };
inline TileVersion tile_version = TileVersion::best;

template <class T, int bytes>
struct Vector {
  using type [[gnu::vector_size(bytes), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
};

template <int bytes>
using Floats = typename Vector<float, bytes>::type;
template <int bytes>
inline constexpr int kPlaces = bytes / static_cast<int>(sizeof(float));  // floats that fit

template <class Job>
void in_plain(const Job& job) {
  job.template run<16>();
}
template <class Job>
FORERUN_AVX2 void in_avx2(const Job& job) {
  job.template run<32>();
}
template <class Job>
FORERUN_AVX512 void in_avx512(const Job& job) {
  job.template run<64>();
}

// Calls job.run<bytes>(), which must be FORERUN_EACH, as must the functions that it calls.
template <class Job>
void in_best_version(const Job& job) {
  using Run = void (*)(const Job&);
#if defined(__x86_64__)
  static const Run versions[] = {has_avx512() ? in_avx512<Job>
                                 : has_avx2() ? in_avx2<Job>
                                              : in_plain<Job>,
                                 in_avx2<Job>, in_plain<Job>};
#else
  static const Run versions[] = {in_plain<Job>, in_plain<Job>, in_plain<Job>};
#endif
  versions[static_cast<int>(tile_version)](job);
}

}  // namespace forerun
