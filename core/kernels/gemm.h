// Matrix products of real numbers on one core, in vectors: what the tiles of products compute.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace forerun {

// A matrix in memory; steps in elements, of any size and sign.
template <class T>
struct MatrixView {
  const T* data;
  int64_t row_step, column_step;
};

inline constexpr int64_t kGemmColumns = 48;  // blocks whose extents are multiples of these
inline constexpr int64_t kGemmRows = 8;      // are computed without waste

// Whether it is faster than a library: the CPU has vectors of 32 bytes and adds products at once.
bool gemm_pays();

// c = a @ b: a is rows x terms, b terms x columns, and c's rows lie c_step elements apart. T: float or double. Products are summed in the order
// of the terms, in pieces whose ends follow from their number alone; so an element of c has the same bits whatever rows and columns
// are computed together, and on any CPU that has what gemm_pays() asks for. Throws std::bad_alloc.
template <class T>
void gemm(int64_t rows, int64_t columns, int64_t terms, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_step);

// The second operand of several products, laid out for them once. T is the same in all calls: float or double.
class PackedMatrix {
 public:
  template <class T>
  void pack(int64_t terms, int64_t columns, MatrixView<T> b);  // throws std::bad_alloc
  size_t room() const;                                         // elements that multiply() needs to work in, on a cache line
  // c = a @ b, or c += a @ b; with gemm's bits.
  template <class T>
  void multiply(int64_t rows, MatrixView<T> a, T* c, int64_t c_step, bool add, T* room) const;

 private:
  struct alignas(64) Line {
    Line() {}
    char bytes[64];
  };
  int64_t terms_ = 0, columns_ = 0;
  std::vector<Line> data_;
};

}  // namespace forerun
