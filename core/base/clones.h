// A function compiled for several CPUs; the best one is chosen when the program is loaded.
#pragma once

// Into each version of a function that is compiled for several CPUs.
#define FORERUN_EACH [[gnu::always_inline]] inline

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FORERUN_CLONES  // the choice is made before a sanitizer is ready
#else
#define FORERUN_CLONES [[gnu::target_clones("avx512f", "avx2", "default")]]
#endif

namespace forerun {

// Whether the CPU has all of AVX-512 that is used here.
inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace forerun
