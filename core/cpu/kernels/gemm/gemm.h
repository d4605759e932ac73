// Matrix products of real numbers on one core, in vectors: the computation of a product's tile.
#pragma once
#include <cstdint>

#include "base/rounding.h"
#include "cpu/kernels/scratch.h"

namespace forerun {

// A matrix in memory; steps in elements, of any size and sign.
template <class T>
struct MatrixView {
  const T* data;
  int64_t row_step, column_step;

  MatrixView at(int64_t row, int64_t column) const {
    return {data + row * row_step + column * column_step, row_step, column_step};
  }
};

inline constexpr int64_t kGemmColumns = 48;  // blocks whose extents are multiples of these
inline constexpr int64_t kGemmRows = 8;      // are computed without waste

// Whether it is faster than a library: the CPU has vectors of 32 bytes and fused multiply-add.
bool gemm_pays();

// c = a @ b: a is rows x terms, b terms x columns, and c's rows lie c_step elements apart. T: float or double. Products
// are summed in the order of the terms, in pieces whose ends follow from their number alone; so an element of c has the
// same bits whatever rows and columns are computed together, and on any CPU for which gemm_pays() is true. A thread
// that multiplies by the same b repeatedly for one owner packs it once. Throws std::bad_alloc.
template <class T>
void gemm(int64_t rows, int64_t columns, int64_t terms, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_step,
          ScratchOwner owner = {});

// The second operand of several products can be packed for them once: [bands][terms][kGemmColumns], where the columns
// missing in the last band are undefined. In elements: the size, the offset of an element, and the size of the scratch
// memory of gemm_packed().
constexpr int64_t gemm_packed_size(int64_t terms, int64_t columns) { return terms * round_up(columns, kGemmColumns); }
constexpr int64_t gemm_packed_at(int64_t term, int64_t column, int64_t terms) {
  return (column / kGemmColumns * terms + term) * kGemmColumns + column % kGemmColumns;
}
int64_t gemm_room(int64_t terms);
template <class T>
void gemm_pack(int64_t terms, int64_t columns, MatrixView<T> b, T* to);
// c = a @ b, or c += a @ b; with gemm's bits. Faster if b and the scratch memory begin on cache lines.
template <class T>
void gemm_packed(int64_t rows, int64_t columns, int64_t terms, MatrixView<T> a, const T* b, T* c, int64_t c_step,
                 bool add, T* room);

}  // namespace forerun
