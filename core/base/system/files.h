// Files as systems give them.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string_view>

namespace forerun {

// A new file to write to, for this user alone, which programs that are started do not get; -1: there is a file of that
// name already, or none can be made.
int create_file(const std::filesystem::path& path);
// Whether all bytes have been written, and are kept.
bool write_and_close(int file, std::initializer_list<std::string_view> parts);

// Memory of zeros, of a file or of none.
struct MappedFile {
  char* memory = nullptr;
  int file = -1;
};
// Maps memory, all of whose pages are there at once if the system can do so. Unless `path`, which is in UTF-8, is null,
// it is that of a file, which is empty before and open from then on: its space on the disk is taken, and no other
// process maps it meanwhile. Returns 0 or an errno: EBUSY if another process has mapped it.
int map_file(const char* path, size_t bytes, MappedFile& mapped);
void close_file(int file);  // the memory stays
bool unmap_file(char* memory, size_t bytes);

}  // namespace forerun
