// Matrix products through BLAS, cut into tiles by shape, each a single-threaded BLAS call.
#pragma once
#include "array/array.h"
#include "cpu/loops/loop.h"

namespace forerun {

// CBLAS entry points (32-bit integers). Null while no library is loaded: cpu/ loads one before the first product.
struct Blas {
  void (*sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                int ldb, float beta, float* c, int ldc) = nullptr;
  void (*dgemm)(int order, int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                int ldb, double beta, double* c, int ldc) = nullptr;
  void (*cgemm)(int order, int ta, int tb, int m, int n, int k, const void* alpha, const void* a, int lda,
                const void* b, int ldb, const void* beta, void* c, int ldc) = nullptr;
  void (*zgemm)(int order, int ta, int tb, int m, int n, int k, const void* alpha, const void* a, int lda,
                const void* b, int ldb, const void* beta, void* c, int ldc) = nullptr;
  void (*sgemv)(int order, int trans, int m, int n, float alpha, const float* a, int lda, const float* x, int incx,
                float beta, float* y, int incy) = nullptr;
  void (*dgemv)(int order, int trans, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
                double beta, double* y, int incy) = nullptr;
  float (*sdot)(int n, const float* x, int incx, const float* y, int incy) = nullptr;
  double (*ddot)(int n, const double* x, int incx, const double* y, int incy) = nullptr;
  void (*cdotu)(int n, const void* x, int incx, const void* y, int incy, void* sum) = nullptr;
  void (*zdotu)(int n, const void* x, int incx, const void* y, int incy, void* sum) = nullptr;
};
extern Blas blas;

// BLAS has 32-bit integers: the limits of one call. Tests make them small.
struct BlasLimits {
  int64_t extent = 1 << 30;  // rows, columns and terms
  int64_t step = INT32_MAX;  // elements from one row, or column, to the next
};
extern BlasLimits blas_limits;

// out[b] = a[b] @ b[b]: a (..., m, k), b (..., k, n), out (..., m, n) dense; batch axes already broadcast (strides may
// be 0); one dtype. Row or column strides that BLAS can read are used in place, others are packed first. dtypes without
// BLAS (integers, bool, float16) use `fallback`: NumPy's matmul loop ((m,k),(k,n)->(m,n) gufunc: dims {N, m, k, n};
// steps {a, b, out outer; a_m, a_k, b_k, b_n, out_m, out_n}).
void build_matmul(Op& op, const Array& a, const Array& b, const Array& out, Loop fallback);

// out = a @ b without an operation, with its bits, of one dtype; at least one operand is a vector, the other one a
// vector or a matrix. False: an operation must compute it, as BLAS cannot read the operands in place.
bool multiply_with_vector(const Layout& a, const char* a_data, const Layout& b, const char* b_data, char* out);

}  // namespace forerun
