#include "cpu/codegen/compiled_loops.h"

#include <utility>

namespace forerun {

CompiledLoops& CompiledLoops::get() {
  static auto* all = new CompiledLoops;  // never destroyed: workers may outlive static destructors
  return *all;
}

void CompiledLoops::set_compiler(std::function<void()> wake) {
  std::lock_guard held(mutex_);
  wake_ = std::move(wake);
  open_.store(true);
}

void CompiledLoops::close() {
  std::lock_guard held(mutex_);
  open_.store(false);
  waiting_.clear();
}

std::optional<LoopFunction> CompiledLoops::find(const std::string& description) const {
  std::lock_guard held(mutex_);
  const auto at = loops_.find(description);
  return at == loops_.end() ? std::nullopt : at->second;
}

void CompiledLoops::request(const std::string& description) {
  std::function<void()> wake;
  {
    std::lock_guard held(mutex_);
    if (!open() || loops_.size() >= kMost || !loops_.emplace(description, std::nullopt).second) return;
    waiting_.push_back(description);
    wake = wake_;
  }
  wake();
}

std::optional<std::string> CompiledLoops::next() {
  std::lock_guard held(mutex_);
  if (waiting_.empty()) return std::nullopt;
  std::string description = std::move(waiting_.front());
  waiting_.pop_front();
  return description;
}

bool CompiledLoops::waiting() const {
  std::lock_guard held(mutex_);
  return !waiting_.empty();
}

void CompiledLoops::answer(const std::string& description, LoopFunction function) {
  std::lock_guard held(mutex_);
  loops_[description] = function;
  if (!function) ++refused_;
  settled_.fetch_add(1, std::memory_order_release);
}

CompiledLoops::Stats CompiledLoops::stats() const {
  std::lock_guard held(mutex_);
  return {settled() - refused_, refused_};
}

}  // namespace forerun
