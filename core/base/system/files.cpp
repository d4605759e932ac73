#include "base/system/files.h"

#include <errno.h>
#include <fcntl.h>
#ifdef _WIN32
#include <io.h>
#include <share.h>
#include <sys/stat.h>

#include "base/system/windows.h"
#else
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>

namespace forerun {

namespace {

constexpr size_t kMostAtOnce = size_t{1} << 30;  // bytes of one write: its result may be an int

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(file, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

#ifdef _WIN32
// Other processes may read the file, but not write to it.
int open_to_map(const char* path, size_t bytes) {
  int file = -1;
  if (int error = _wsopen_s(&file, wide(path).c_str(), _O_RDWR | _O_CREAT | _O_BINARY | _O_NOINHERIT, _SH_DENYWR,
                            _S_IREAD | _S_IWRITE)) {
    errno = _doserrno == ERROR_SHARING_VIOLATION ? EBUSY : error;
    return -1;
  }
  int error = _chsize_s(file, 0);
  if (!error) error = _chsize_s(file, static_cast<int64_t>(bytes));
  if (!error) return file;
  ::close(file);
  errno = error;
  return -1;
}

int map(int file, size_t bytes, MappedFile& mapped) {
  const uint64_t size = bytes;
  HANDLE of = file < 0 ? INVALID_HANDLE_VALUE : reinterpret_cast<HANDLE>(_get_osfhandle(file));
  HANDLE mapping = CreateFileMappingW(of, nullptr, PAGE_READWRITE, static_cast<DWORD>(size >> 32),
                                      static_cast<DWORD>(size), nullptr);
  if (!mapping) return ENOMEM;
  void* memory = MapViewOfFile(mapping, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, bytes);
  CloseHandle(mapping);  // the view keeps the mapping alive
  if (!memory) return ENOMEM;
  mapped = {static_cast<char*>(memory), file};
  return 0;
}
#else
#ifdef __linux__
constexpr int kAllPages = MAP_POPULATE;
int reserve(int file, size_t bytes) { return ::posix_fallocate(file, 0, static_cast<off_t>(bytes)); }
#else  // pages and disk space are allocated when they are written
constexpr int kAllPages = 0;
int reserve(int file, size_t bytes) { return ::ftruncate(file, static_cast<off_t>(bytes)) < 0 ? errno : 0; }
#endif

int open_to_map(const char* path, size_t bytes) {
  int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  int error = ::flock(file, LOCK_EX | LOCK_NB) < 0 ? EBUSY : ::ftruncate(file, 0) < 0 ? errno : reserve(file, bytes);
  if (!error) return file;
  ::close(file);
  errno = error;
  return -1;
}

int map(int file, size_t bytes, MappedFile& mapped) {
  int flags = kAllPages | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (memory == MAP_FAILED) return errno;
  mapped = {static_cast<char*>(memory), file};
  return 0;
}
#endif

}  // namespace

#ifdef _WIN32
int create_file(const std::filesystem::path& path) {
  return _wopen(path.c_str(), _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
}

bool unmap_file(char* memory, size_t) { return UnmapViewOfFile(memory); }
#else
int create_file(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

bool unmap_file(char* memory, size_t bytes) { return ::munmap(memory, bytes) == 0; }
#endif

bool write_and_close(int file, std::initializer_list<std::string_view> parts) {
  const bool written = std::ranges::all_of(parts, [file](std::string_view part) { return write_all(file, part); });
  return ::close(file) == 0 && written;
}

void close_file(int file) { ::close(file); }

int map_file(const char* path, size_t bytes, MappedFile& mapped) {
  int file = path ? open_to_map(path, bytes) : -1;
  if (path && file < 0) return errno;
  int error = map(file, bytes, mapped);
  if (error && file >= 0) ::close(file);
  return error;
}

}  // namespace forerun
