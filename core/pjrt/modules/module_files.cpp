#include "pjrt/modules/module_files.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/system/files.h"

namespace forerun::pjrt {

namespace fs = std::filesystem;

namespace {

// Hashes bytes to 64 bits, eight bytes at a time. For detecting damage and naming files; it is not cryptographic.
uint64_t hash(std::string_view bytes, uint64_t seed) {
  uint64_t h = seed ^ bytes.size() * 0x9e3779b97f4a7c15u;
  const auto mix = [&h](uint64_t word) {
    h = (h ^ word) * 0xff51afd7ed558ccdu;
    h = std::rotl(h, 31) * 0xc4ceb9fe1a85ec53u;
    h ^= h >> 29;
  };
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    mix(word);
  }
  uint64_t rest = 0;
  if (at < bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  return mix(rest), mix(seed), h;
}

// The start of a file. The key and the bytes follow.
struct Start {
  char magic[8];
  uint64_t checksum, key_size, size;
};
constexpr char kMagic[8] = {'f', 'o', 'r', 'e', 'r', 'u', 'n', '1'};

Start start_of(std::string_view key, std::string_view bytes) {
  Start start{{}, hash(bytes, hash(key, 1)), key.size(), bytes.size()};
  std::memcpy(start.magic, kMagic, sizeof kMagic);
  return start;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A file that has not been finished for so long never will be: its process has ended.
constexpr std::chrono::hours kAbandoned{1};

// A name that no other process or thread uses.
fs::path unfinished(const fs::path& path) {
  static std::atomic<int> count{0};
  fs::path part = path;
  part += "." + std::to_string(getpid()) + "." + std::to_string(count.fetch_add(1)) + ".part";
  return part;
}

}  // namespace

fs::path ModuleFiles::path_of(std::string_view key) const {
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx.module", static_cast<unsigned long long>(hash(key, 2)),
                static_cast<unsigned long long>(hash(key, 3)));
  return folder_ / name;
}

std::optional<std::string> ModuleFiles::read(std::string_view key) const {
  const fs::path path = path_of(key);
  const std::string all = contents(path);
  Start start;
  if (all.size() < sizeof start) return std::nullopt;
  std::memcpy(&start, all.data(), sizeof start);
  std::string_view rest = std::string_view(all).substr(sizeof start);
  if (start.key_size != key.size() || rest.size() != key.size() + start.size || !rest.starts_with(key))
    return std::nullopt;
  rest.remove_prefix(key.size());
  const Start right = start_of(key, rest);
  if (std::memcmp(&start, &right, sizeof start) != 0) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // marks the file as used
  return std::string(rest);
}

bool ModuleFiles::write(std::string_view key, std::string_view bytes) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path path = path_of(key), part = unfinished(path);
  const int file = create_file(part);
  if (file < 0) return false;
  const Start start = start_of(key, bytes);
  const bool written = write_and_close(file, {{reinterpret_cast<const char*>(&start), sizeof start}, key, bytes});
  if (written) fs::rename(part, path, error);
  if (!written || error) fs::remove(part, error);
  return written && !error;
}

void ModuleFiles::trim(uint64_t bytes) const {
  struct File {
    fs::file_time_type used;
    fs::path path;
    uint64_t size;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const fs::file_time_type used = entry.last_write_time(error);
    if (error) continue;
    if (entry.path().extension() == ".part" && used < fs::file_time_type::clock::now() - kAbandoned)
      fs::remove(entry.path(), error);
    const uint64_t size = entry.file_size(error);
    if (error || entry.path().extension() != ".module") continue;
    files.push_back({used, entry.path(), size});
    total += size;
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (size_t i = 0; i < files.size() && total > bytes; ++i)
    if (fs::remove(files[i].path, error); !error) total -= files[i].size;  // else another process may have removed it
}

}  // namespace forerun::pjrt
