#include "cpu/blas.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/simd/simd_target.h"
#include "base/system/environment.h"
#include "base/system/library.h"
#include "cpu/kernels/gemm/matmul.h"

namespace forerun {

namespace {

std::string info;

// OpenBLAS selects its AVX2 kernels for AMD processors even where these have AVX-512; its SkylakeX kernels are twice as
// fast on them.
bool amd_with_avx512() {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  if (!__get_cpuid(0, &a, &b, &c, &d)) return false;
  char vendor[13] = {};
  std::memcpy(vendor, &b, 4), std::memcpy(vendor + 4, &d, 4), std::memcpy(vendor + 8, &c, 4);
  return std::strcmp(vendor, "AuthenticAMD") == 0 && has_avx512();
#else
  return false;
#endif
}

template <class F>
F find(void* library, const std::string& name) {
  void* f = find_symbol(library, ("scipy_" + name).c_str());
  return reinterpret_cast<F>(f ? f : find_symbol(library, name.c_str()));
}

}  // namespace

void load_blas(const std::string& path) {
  if (blas.sgemm) return;
  bool choose = !std::getenv("OPENBLAS_CORETYPE") && amd_with_avx512();
  if (choose) set_environment("OPENBLAS_CORETYPE", "SkylakeX");
  // Its own threads are never used, so none is started.
  const char* threads = std::getenv("OPENBLAS_NUM_THREADS");
  std::string before = threads ? threads : "";
  set_environment("OPENBLAS_NUM_THREADS", "1");
  std::string error;
  void* library = open_library(path, error);
  if (choose) set_environment("OPENBLAS_CORETYPE", nullptr);
  set_environment("OPENBLAS_NUM_THREADS", threads ? before.c_str() : nullptr);
  if (!library) throw Error(ErrorKind::runtime, "blas: library must load, got " + error);
  if (auto set_threads = find<void (*)(int)>(library, "openblas_set_num_threads")) set_threads(1);
  blas.sgemv = find<decltype(blas.sgemv)>(library, "cblas_sgemv");
  blas.dgemv = find<decltype(blas.dgemv)>(library, "cblas_dgemv");
  blas.sdot = find<decltype(blas.sdot)>(library, "cblas_sdot");
  blas.ddot = find<decltype(blas.ddot)>(library, "cblas_ddot");
  blas.cdotu = find<decltype(blas.cdotu)>(library, "cblas_cdotu_sub");
  blas.zdotu = find<decltype(blas.zdotu)>(library, "cblas_zdotu_sub");
  blas.dgemm = find<decltype(blas.dgemm)>(library, "cblas_dgemm");
  blas.cgemm = find<decltype(blas.cgemm)>(library, "cblas_cgemm");
  blas.zgemm = find<decltype(blas.zgemm)>(library, "cblas_zgemm");
  blas.sgemm = find<decltype(blas.sgemm)>(library, "cblas_sgemm");
  if (!blas.sgemm || !blas.dgemm || !blas.cgemm || !blas.zgemm)
    throw Error(ErrorKind::runtime, "blas: library must have the CBLAS functions, got " + path);
  if (auto config = find<char* (*)()>(library, "openblas_get_config")) info = config();
  if (auto core = find<char* (*)()>(library, "openblas_get_corename")) info += std::string(" kernel ") + core();
}

std::string blas_info() { return info; }

}  // namespace forerun
