#include "pjrt/modules/module_cache.h"

namespace forerun::pjrt {

namespace {

std::string platform_of(const Client& client) {
  std::string text = client.platform() + '\n' + client.platform_version() + '\n' + client.plugin().fingerprint();
  for (const Device& device : client.devices()) text += device.kind() + '\n';
  return text.append(compile_options(client)) + '\n';
}

}  // namespace

ModuleCache::ModuleCache(const Client& client, std::optional<std::filesystem::path> folder, size_t most)
    : client_(client), platform_(platform_of(client)),
      files_(folder ? std::optional<ModuleFiles>(std::in_place, std::move(*folder)) : std::nullopt), most_(most) {
  if (files_) files_->trim(kMostBytes);
}

ModuleCache::ModulePtr ModuleCache::get(const std::string& stablehlo, const Issuer& issuer) {
  std::promise<ModulePtr> promise;
  {
    std::unique_lock lock(mutex_);
    if (auto found = entries_.find(stablehlo); found != entries_.end()) {
      ++stats_.found;
      order_.splice(order_.begin(), order_, found->second.place);
      auto module = found->second.module;
      lock.unlock();
      return module.get();
    }
    order_.push_front(stablehlo);
    entries_.emplace(stablehlo, Entry{promise.get_future().share(), order_.begin()});
    make_room();
  }
  try {
    ModulePtr module = make(stablehlo, issuer);
    promise.set_value(module);
    return module;
  } catch (...) {
    forget(stablehlo);
    promise.set_exception(std::current_exception());
    throw;
  }
}

ModuleCache::ModulePtr ModuleCache::make(const std::string& stablehlo, const Issuer& issuer) {
  const std::string key = platform_ + stablehlo;
  if (ModulePtr module = read(key)) return module;
  ModulePtr module = compile(stablehlo, issuer);
  try {
    if (files_) files_->write(key, module->serialize());
  } catch (const Error&) {
    // A plugin that cannot serialize compiles again in the next process.
  }
  return module;
}

ModuleCache::ModulePtr ModuleCache::read(const std::string& key) {
  const auto start = std::chrono::steady_clock::now();
  const std::optional<std::string> bytes = files_ ? files_->read(key) : std::nullopt;
  if (!bytes) return nullptr;
  try {
    ModulePtr module = Module::deserialize(client_, *bytes);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::lock_guard lock(mutex_);
    ++stats_.from_disk, stats_.disk_seconds += took.count();
    return module;
  } catch (const PluginError&) {
    return nullptr;  // it is compiled, and the file replaced
  }
}

ModuleCache::ModulePtr ModuleCache::compile(const std::string& stablehlo, const Issuer& issuer) {
  const auto start = std::chrono::steady_clock::now();
  ModulePtr module = Module::compile(client_, stablehlo);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::lock_guard lock(mutex_);
  ++stats_.compiled, stats_.seconds += took.count();
  if (issuers_.size() < kMostIssuers || issuers_.contains(issuer)) {
    Compiled& all = issuers_[issuer];
    ++all.modules, all.seconds += took.count();
  }
  return module;
}

void ModuleCache::make_room() {
  while (entries_.size() > most_ && order_.size() > 1) {
    entries_.erase(order_.back());
    order_.pop_back();
    ++stats_.dropped;
  }
}

void ModuleCache::forget(const std::string& stablehlo) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(stablehlo);
  if (found == entries_.end()) return;  // it was dropped meanwhile
  order_.erase(found->second.place);
  entries_.erase(found);
}

void ModuleCache::record(bool on) {
  std::lock_guard lock(mutex_);
  if (on) executed_.clear();
  recording_.store(on, std::memory_order_relaxed);
}

std::vector<std::string> ModuleCache::recorded() const {
  std::lock_guard lock(mutex_);
  return executed_;
}

void ModuleCache::add_executed(const std::string& stablehlo) {
  std::lock_guard lock(mutex_);
  executed_.push_back(stablehlo);
}

CompileStats ModuleCache::stats() const {
  std::lock_guard lock(mutex_);
  CompileStats stats = stats_;
  stats.held = entries_.size();
  return stats;
}

std::map<Issuer, Compiled> ModuleCache::issuers() const {
  std::lock_guard lock(mutex_);
  return issuers_;
}

}  // namespace forerun::pjrt
