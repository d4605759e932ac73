// Compiled modules as files, which the next process finds.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace forerun::pjrt {

// A folder with a file per module, found by its key: all that the compiled bytes depend on. Several processes may use
// one folder: a file is written under another name and then takes its own, so that it is there as a whole or not at
// all. A file that cannot be read or written is treated as missing. Any thread.
class ModuleFiles {
 public:
  explicit ModuleFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Bytes stored under this very key and undamaged.
  std::optional<std::string> read(std::string_view key) const;
  bool write(std::string_view key, std::string_view bytes) const;
  // Removes the files that were used the longest ago, until at most this many bytes are left; and what processes that
  // were killed have left unfinished.
  void trim(uint64_t bytes) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path path_of(std::string_view key) const;
  const std::filesystem::path folder_;
};

}  // namespace forerun::pjrt
