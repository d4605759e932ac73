// Compiled modules as files: threads and processes that write and read one key see the file whole or not at all; the
// folder stays small.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "pjrt/modules/module_files.h"

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

// Runs a function in some processes at the same time, each with its number; all must succeed.
template <class F>
void in_processes(int n, F f) {
  int start[2];
  expect(pipe(start) == 0, "a pipe is made");
  std::vector<pid_t> children;
  for (int i = 0; i < n; ++i) {
    children.push_back(fork());
    if (children.back() > 0) continue;
    alarm(60);
    char go;
    close(start[1]);
    expect(read(start[0], &go, 1) == 0, "the pipe is closed");  // in all of them at once
    f(i);
    _exit(0);
  }
  close(start[0]), close(start[1]);
  for (pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    expect(status == 0, "each process ends well");
  }
}

std::string bytes_of(int key, int version) { return std::string(size_t(20000 + 1000 * key), char('a' + version)); }

// One of the versions that processes write; never a mixture, or a part of one.
bool is_whole(int key, const std::string& bytes) { return !bytes.empty() && bytes == bytes_of(key, bytes[0] - 'a'); }

void check_processes(const ModuleFiles& files) {
  in_processes(4, [&](int process) {
    for (int i = 0; i < 100; ++i) {
      const int key = (i + process) % 5;
      expect(files.write("key" + std::to_string(key), bytes_of(key, process)), "a file is written");
      const auto read = files.read("key" + std::to_string((i + 3) % 5));
      expect(!read || is_whole((i + 3) % 5, *read), "another process's is read whole");
    }
  });
  for (int key = 0; key < 5; ++key) {
    const auto read = files.read("key" + std::to_string(key));
    expect(read && is_whole(key, *read), "each key has one of the versions");
  }
  expect(files_in(files.folder()) == 5, "nothing unfinished is left");
}

// Processes that write, read and trim: a file is whole or missing.
void check_removal_meanwhile(const ModuleFiles& files) {
  in_processes(4, [&](int process) {
    for (int i = 0; i < 100; ++i) {
      const int key = (i * 7 + process) % 5;
      files.write("key" + std::to_string(key), bytes_of(key, process));
      if (i % 10 == 0) files.trim(i % 20 == 0 ? 0 : 50000);
      const auto read = files.read("key" + std::to_string(i % 5));
      expect(!read || is_whole(i % 5, *read), "it is whole or missing");
    }
  });
}

// All see the same files at once, and remove the oldest: each is removed once, and no more than necessary.
void check_several_trim() {
  for (int round = 0; round < 5; ++round) {
    char name[] = "/tmp/forerun-modules-XXXXXX";
    expect(mkdtemp(name), "a folder is made");
    const ModuleFiles files{fs::path(name)};
    constexpr size_t kFiles = 400, kSize = 1000;
    for (size_t i = 0; i < kFiles; ++i) files.write("key" + std::to_string(i), std::string(kSize, 'x'));
    uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(name)) bytes += entry.file_size();
    in_processes(6, [&](int) { files.trim(bytes / 2); });
    const size_t left = files_in(files.folder());
    expect(left >= kFiles / 2 - 2 && left <= kFiles / 2 + 2, "half of the files are left");
    fs::remove_all(name);
  }
}

// A process that is killed leaves its file; so does one that is still running.
void check_unfinished(const ModuleFiles& files) {
  files.write("key", "bytes");
  for (const char* name : {"old.module.1.0.part", "young.module.1.0.part"})
    std::fclose(std::fopen((files.folder() / name).c_str(), "w"));
  fs::last_write_time(files.folder() / "old.module.1.0.part", fs::file_time_type::clock::now() - std::chrono::hours(2));
  files.trim(1 << 20);
  expect(!fs::exists(files.folder() / "old.module.1.0.part"), "it is removed after a while");
  expect(fs::exists(files.folder() / "young.module.1.0.part"), "but not before");
  expect(files.read("key") == "bytes", "modules stay");
  fs::remove(files.folder() / "young.module.1.0.part");
}

void check_keys(const ModuleFiles& files) {
  expect(!files.read("none"), "a key without a file gives no text");
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
  check_processes(files);  // before there are threads
  check_removal_meanwhile(files);
  check_several_trim();
  files.trim(0);
  check_unfinished(files);
  files.trim(0);
  check_threads(files);
  check_keys(files);
  files.trim(2000);
  expect(files_in(files.folder()) < 100, "files are removed");
  files.trim(0);
  expect(files_in(files.folder()) == 0, "all of them, if none may stay");
  fs::remove_all(folder);
  return 0;
}
