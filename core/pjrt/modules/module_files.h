// Compiled modules as files, for later processes.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace forerun::pjrt {

// A folder with a file per module, found by its key: all properties that determine the compiled bytes. Several
// processes may use one folder: a file is written under another name and then renamed, so that it is either complete or
// missing. A file that cannot be read or written is treated as missing. Any thread.
class ModuleFiles {
 public:
  explicit ModuleFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // The bytes stored under this key, if undamaged.
  std::optional<std::string> read(std::string_view key) const;
  bool write(std::string_view key, std::string_view bytes) const;
  // Removes the least recently used files until at most this many bytes are left; and unfinished files of processes
  // that were killed.
  void trim(uint64_t bytes) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path path_of(std::string_view key) const;
  const std::filesystem::path folder_;
};

}  // namespace forerun::pjrt
