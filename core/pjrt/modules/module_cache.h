// The modules of a client by their texts: each is compiled once, and found again by the next process.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pjrt/modules/module.h"
#include "pjrt/modules/module_files.h"

namespace forerun::pjrt {

// Counts of a cache since its process began.
struct CompileStats {
  uint64_t compiled = 0;    // by the plugin,
  double seconds = 0;       // in which time
  uint64_t from_disk = 0;   // found as a file instead,
  double disk_seconds = 0;  // and loaded in this time
  uint64_t found = 0;       // asked for again
  uint64_t dropped = 0;     // had to make room
  size_t held = 0;          // modules now
};

// Whose module it is: the name of an operation, and the number of the line that issued it.
using Issuer = std::pair<std::string, uint32_t>;
struct Compiled {
  uint64_t modules = 0;
  double seconds = 0;
};

// The modules that were used last, at most `most` of them; and all as files, if there is a folder. One of them that is
// dropped stays as long as somebody executes it. Any thread: two that want the same text get the same module, of which
// one waits for the other.
class ModuleCache {
 public:
  using ModulePtr = std::shared_ptr<const Module>;
  static constexpr size_t kMost = 512;
  static constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of files
  static constexpr size_t kMostIssuers = 10'000;

  ModuleCache(const Client& client, std::optional<std::filesystem::path> folder, size_t most = kMost);

  // Compiles, reads the file, or waits for a thread that does. Throws PluginError with the compiler's text, also in
  // threads that waited; the next call compiles again.
  ModulePtr get(const std::string& stablehlo, const Issuer& issuer = {});
  CompileStats stats() const;
  // The texts of the modules that are executed from now on, in their order; and those so far.
  void record(bool on);
  std::vector<std::string> recorded() const;
  void executed(const std::string& stablehlo) {
    if (recording_.load(std::memory_order_relaxed)) add_executed(stablehlo);
  }
  // The modules compiled for each issuer that was the first to need them, of the first kMostIssuers.
  std::map<Issuer, Compiled> issuers() const;

 private:
  using Order = std::list<std::string>;  // texts, the one used last in front
  struct Entry {
    std::shared_future<ModulePtr> module;
    Order::iterator place;
  };
  ModulePtr make(const std::string& stablehlo, const Issuer& issuer);
  ModulePtr read(const std::string& key);
  ModulePtr compile(const std::string& stablehlo, const Issuer& issuer);
  void make_room();  // the lock is held
  void forget(const std::string& stablehlo);
  void add_executed(const std::string& stablehlo);

  const Client& client_;
  const std::string platform_;  // all that compiled bytes depend on, but for the text
  const std::optional<ModuleFiles> files_;
  const size_t most_;
  mutable std::mutex mutex_;  // guards the rest. It is not held while the plugin works
  std::unordered_map<std::string, Entry> entries_;
  Order order_;
  CompileStats stats_;
  std::map<Issuer, Compiled> issuers_;
  std::vector<std::string> executed_;
  std::atomic<bool> recording_{false};
};

}  // namespace forerun::pjrt
