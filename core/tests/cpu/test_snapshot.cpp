// Copies of values that an op reads and writes: of the elements alone, not of the bytes between them.
#include <sys/mman.h>

#include "cpu/kernels/snapshot.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

// Two elements with inaccessible memory between them.
void bytes_between_elements_are_not_read() {
  constexpr size_t kPage = 1 << 16, kBetween = size_t{1} << 30;
  void* mapped = mmap(nullptr, kBetween + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check(mapped != MAP_FAILED, "addresses are available");
  char* first = static_cast<char*>(mapped);
  for (char* page : {first, first + kBetween}) check(mprotect(page, kPage, PROT_READ | PROT_WRITE) == 0, "and memory");
  reinterpret_cast<double*>(first)[1] = 1.5;
  reinterpret_cast<double*>(first + kBetween)[1] = 2.5;
  Snapshot snapshot;
  Dims strides{0, static_cast<int64_t>(kBetween)};
  const auto* copy = reinterpret_cast<double*>(snapshot.take(first + 8, DType::f64, Dims{5, 2}, strides));
  check(strides[0] == 0 && strides[1] == 8, "the copy is dense, and repeats elements as before");
  check(copy[0] == 1.5 && copy[1] == 2.5, "it has the values");
  munmap(mapped, kBetween + kPage);
}

void negative_strides_are_followed() {
  const int32_t values[] = {1, 2, 3, 4, 5, 6};
  Snapshot snapshot;
  Dims strides{-12, -4};
  const auto* copy = reinterpret_cast<int32_t*>(
      snapshot.take(reinterpret_cast<const char*>(values + 5), DType::i32, Dims{2, 3}, strides));
  check(strides[0] == 12 && strides[1] == 4, "rows follow one another in the copy");
  for (int i = 0; i < 6; ++i) check(copy[i] == 6 - i, "elements are in the order of the view");
}

}  // namespace

int main() {
  bytes_between_elements_are_not_read();
  negative_strides_are_followed();
}
