// Loads the package's own OpenBLAS.
#pragma once
#include <string>

namespace forerun {

// Loads the library at `path` (RTLD_LOCAL, once), sets it to one thread per call, and fills the table of
// cpu/kernels/gemm/matmul.h. On AMD CPUs with AVX-512 it asks for the SkylakeX kernels unless the user has set
// OPENBLAS_CORETYPE; the environment is left as it was. Throws Error(runtime) with the path and the loader's message.
// Any thread; not while products run.
void load_blas(const std::string& path);
// The version and kernel that the library reports, "" before it is loaded.
std::string blas_info();

}  // namespace forerun
