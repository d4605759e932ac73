#include "base/system/memory.h"

#ifdef _WIN32
#include "base/system/windows.h"
#else
#include <sys/mman.h>
#endif

#include <cstdint>

namespace forerun {

#ifdef _WIN32
// On Windows huge pages need a privilege that programs seldom have.
char* map_pages(size_t bytes) {
  return static_cast<char*>(VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
}

void unmap_pages(char* pages, size_t) { VirtualFree(pages, 0, MEM_RELEASE); }
#else
char* map_pages(size_t bytes) {
  constexpr size_t kHuge = size_t{2} << 20;
  // Mapped with space to cut out a piece that starts on a huge page.
  size_t whole = bytes + kHuge;
  void* p = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  auto start = reinterpret_cast<uintptr_t>(p), at = (start + kHuge - 1) / kHuge * kHuge;
  size_t used = (bytes + 4095) / 4096 * 4096;
  if (at > start) munmap(p, at - start);
  if (start + whole > at + used) munmap(reinterpret_cast<void*>(at + used), start + whole - at - used);
#ifdef MADV_HUGEPAGE
  madvise(reinterpret_cast<void*>(at), used, MADV_HUGEPAGE);
#endif
  return reinterpret_cast<char*>(at);
}

void unmap_pages(char* pages, size_t bytes) { munmap(pages, (bytes + 4095) / 4096 * 4096); }
#endif

#ifdef __linux__
bool discard_pages(char* pages, size_t bytes) { return madvise(pages, bytes, MADV_DONTNEED) == 0; }
#else  // elsewhere such calls do not guarantee zeros, or may leave no pages at all
bool discard_pages(char*, size_t) { return false; }
#endif

}  // namespace forerun
