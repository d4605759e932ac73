// The modules of a client by their texts: each is compiled once, and is found by later processes.
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
  double seconds = 0;       // the time for it
  uint64_t from_disk = 0;   // read from a file instead,
  double disk_seconds = 0;  // and the time for loading
  uint64_t found = 0;       // calls for a known module
  uint64_t dropped = 0;     // to limit the number of modules
  size_t held = 0;          // modules at present
};

// The operation that needs a module: its name, and the number of the line that issued it.
using Issuer = std::pair<std::string, uint32_t>;
struct Compiled {
  uint64_t modules = 0;
  double seconds = 0;
};

// The modules used last, at most `most` of them; and all as files, if there is a folder. A dropped module is kept as
// long as it is being executed. Any thread: if two threads need the same text, one compiles it, and the other waits.
class ModuleCache {
 public:
  using ModulePtr = std::shared_ptr<const Module>;
  static constexpr size_t kMost = 512;
  static constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of files
  static constexpr size_t kMostIssuers = 10'000;

  ModuleCache(const Client& client, std::optional<std::filesystem::path> folder, size_t most = kMost);

  // Compiles, reads the file, or waits for a thread that does so. Throws PluginError with the compiler's text, also in
  // threads that waited; the next call compiles again.
  ModulePtr get(const std::string& stablehlo, const Issuer& issuer = {});
  CompileStats stats() const;
  // Records the texts of the modules executed from now on, in their order; and returns those so far.
  void record(bool on);
  std::vector<std::string> recorded() const;
  void executed(const std::string& stablehlo) {
    if (recording_.load(std::memory_order_relaxed)) add_executed(stablehlo);
  }
  // The modules compiled for each issuer that was the first to need them, for the first kMostIssuers.
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
  void make_room();  // with the lock
  void forget(const std::string& stablehlo);
  void add_executed(const std::string& stablehlo);

  const Client& client_;
  const std::string platform_;  // all properties besides the text that determine the compiled bytes
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
