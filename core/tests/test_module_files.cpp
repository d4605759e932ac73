// Compiled modules as files: threads that write and read one key see it whole or not at all; the folder stays small.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "pjrt/module_files.h"

using forerun::pjrt::ModuleFiles;
namespace fs = std::filesystem;

namespace {

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

size_t files_in(const fs::path& folder) {
  size_t n = 0;
  for (const auto& entry : fs::directory_iterator(folder)) n += entry.is_regular_file();
  return n;
}

void check_threads(const ModuleFiles& files) {
  const std::string bytes(100000, 'x');
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        expect(files.write("shared", bytes), "a file is written");
        expect(files.read("shared") == bytes, "it is read whole");
      }
    });
  for (std::thread& thread : threads) thread.join();
  expect(files_in(files.folder()) == 1, "nothing unfinished is left");
}

void check_keys(const ModuleFiles& files) {
  expect(!files.read("none"), "a key without a file has none");
  for (int i = 0; i < 100; ++i) files.write("key" + std::to_string(i), std::string(size_t(i), char(i)));
  for (int i = 0; i < 100; ++i)
    expect(files.read("key" + std::to_string(i)) == std::string(size_t(i), char(i)), "each key has its own bytes");
}

}  // namespace

int main() {
  char name[] = "/tmp/forerun-modules-XXXXXX";
  expect(mkdtemp(name), "a folder is made");
  const fs::path folder = name;
  const ModuleFiles files(folder / "modules");
  check_threads(files);
  check_keys(files);
  files.trim(2000);
  expect(files_in(files.folder()) < 100, "files are removed");
  files.trim(0);
  expect(files_in(files.folder()) == 0, "all of them, if none may stay");
  fs::remove_all(folder);
  return 0;
}
