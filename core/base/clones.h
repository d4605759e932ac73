// A function compiled for several CPUs; the best one is chosen when the program is loaded.
#pragma once

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FORERUN_CLONES  // the choice is made before a sanitizer is ready
#else
#define FORERUN_CLONES [[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
