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

std::shared_ptr<CompiledLoop> CompiledLoops::find(const std::string& description) {
  std::lock_guard held(mutex_);
  // For a program that never repeats itself: loops that no plan uses, and that were never requested, are forgotten.
  if (loops_.size() >= kMostKnown)
    std::erase_if(loops_, [](const auto& known) { return known.second.use_count() == 1 && !known.second->requested_; });
  std::shared_ptr<CompiledLoop>& loop = loops_[description];
  if (!loop) loop = std::make_shared<CompiledLoop>(description);
  return loop;
}

void CompiledLoops::computed(const std::shared_ptr<CompiledLoop>& loop, int64_t elements) {
  if (loop->requested_.load(std::memory_order_relaxed)) return;
  if (loop->computed_.fetch_add(elements, std::memory_order_relaxed) + elements >= compile_from_.load()) request(loop);
}

void CompiledLoops::request(const std::shared_ptr<CompiledLoop>& loop) {
  std::function<void()> wake;
  {
    std::lock_guard held(mutex_);
    if (loop->requested_.exchange(true) || !open() || requested_ == kMost) return;
    ++requested_;
    waiting_.push_back(loop);
    wake = wake_;
  }
  wake();
}

std::shared_ptr<CompiledLoop> CompiledLoops::next() {
  std::lock_guard held(mutex_);
  if (waiting_.empty()) return nullptr;
  std::shared_ptr<CompiledLoop> loop = std::move(waiting_.front());
  waiting_.pop_front();
  return loop;
}

bool CompiledLoops::waiting() const {
  std::lock_guard held(mutex_);
  return !waiting_.empty();
}

void CompiledLoops::answer(CompiledLoop& loop, RowsFunction function) {
  if (function) compiled_.fetch_add(1, std::memory_order_relaxed);
  loop.function_.store(function, std::memory_order_release);
  loop.settled_.store(true, std::memory_order_release);
}

}  // namespace forerun
