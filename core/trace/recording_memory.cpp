#include "trace/recording_memory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/processor/cycles.h"

namespace forerun {

namespace {

#ifdef __linux__
constexpr int kAllPages = MAP_POPULATE;
int reserve(int file) { return ::posix_fallocate(file, 0, kRecording); }
#else  // pages come as they are written, and their space on the disk with them
constexpr int kAllPages = 0;
int reserve(int file) { return ::ftruncate(file, kRecording) < 0 ? errno : 0; }
#endif

// An open file of the right size with its space on the disk, which no other process records into; or -1 with errno set.
int open_file(const char* path) {
  int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  int error = ::flock(file, LOCK_EX | LOCK_NB) < 0 ? EBUSY : ::ftruncate(file, 0) < 0 ? errno : reserve(file);
  if (!error) return file;
  ::close(file);
  errno = error;
  return -1;
}

}  // namespace

int RecordingMemory::take(const char* path) {
  int file = path ? open_file(path) : -1;
  if (path && file < 0) return errno;
  // All pages at once: a page fault in the middle of an op would cost more than its record.
  int flags = kAllPages | (path ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
  void* memory = ::mmap(nullptr, kRecording, PROT_READ | PROT_WRITE, flags, file, 0);
  if (memory == MAP_FAILED) {
    int error = errno;
    if (file >= 0) ::close(file);
    return error;
  }
  data_ = static_cast<char*>(memory), file_ = file;
  return 0;
}

char* RecordingMemory::release() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  return std::exchange(data_, nullptr);
}

bool RecordingMemory::unmap(char* data) { return ::munmap(data, kRecording) == 0; }

void RecordingMemory::calibrate() {
  head().later_ticks = cycles();
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  head().later_nanoseconds = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

void RecordingMemory::write_text(char kind, uint64_t number, const char* text) {
  if_memory_allows([&] {
    std::string row = kind + std::to_string(number) + " " + text;
    std::replace(row.begin(), row.end(), '\n', ' ');
    uint64_t n = head().n_text;
    if (n + row.size() + 1 > kText) return;
    std::memcpy(data_ + kAtText + n, row.data(), row.size());
    data_[kAtText + n + row.size()] = '\n';
    head().n_text = n + row.size() + 1;
  });
}

std::string RecordingMemory::copy() const {
  std::string all;
  const Head& h = head();
  auto copy = [&](size_t from, size_t bytes) {  // by words, which others may write meanwhile
    size_t to = all.size();
    all.resize(to + bytes);
    for (size_t i = 0; i < bytes; i += 8) {
      uint64_t word = *at<RelaxedAtomic<uint64_t>>(from + i);
      std::memcpy(all.data() + to + i, &word, 8);
    }
  };
  all.reserve(kHead + h.n_text + kLines * sizeof(LineRecord) + h.n_more * sizeof(MoreRecord) +
              h.n_blocks * kBlockOps * sizeof(OpRecord) + 8);
  copy(0, kHead);
  copy(kAtText, (h.n_text + 7) / 8 * 8);
  copy(kAtLines, kLines * sizeof(LineRecord));
  copy(kAtMore, h.n_more * sizeof(MoreRecord));
  copy(kAtOps, h.n_blocks * kBlockOps * sizeof(OpRecord));
  reinterpret_cast<Head*>(all.data())->ended = 1;  // nothing more will come here
  return all;
}

}  // namespace forerun
