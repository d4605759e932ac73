// Files of the operating system.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string_view>

namespace forerun {

// Creates a file to write to, for this user alone, which child processes do not inherit. Returns -1 if a file of that
// name exists already, or it cannot be created.
int create_file(const std::filesystem::path& path);
// Returns whether all bytes have been written and are stored.
bool write_and_close(int file, std::initializer_list<std::string_view> parts);

// Memory of zeros, in a file or without one.
struct MappedFile {
  char* memory = nullptr;
  int file = -1;
};
// Maps memory with all of its pages allocated, where the system can do so. If `path` (in UTF-8) is not null, the memory
// is that of a file: it is emptied, its disk space is reserved, it stays open, and no other process can map it
// meanwhile. Returns 0 or an errno: EBUSY if another process has mapped the file.
int map_file(const char* path, size_t bytes, MappedFile& mapped);
void close_file(int file);  // the memory stays
bool unmap_file(char* memory, size_t bytes);

}  // namespace forerun
