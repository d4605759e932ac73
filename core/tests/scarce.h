// A number in a storage, for kernels of tests.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/operations/storage.h"

namespace forerun::test {

// A storage whose memory sometimes cannot be allocated.
struct Scarce final : Storage {
  Scarce(size_t bytes, int refusals, MemoryBudget* budget) : Storage(bytes, budget), refusals(refusals) {
    retain_handle();
  }
  bool take() override { return refusals-- <= 0 && (there = true); }
  bool taken() const override { return there; }
  bool protect(bool) override { return true; }
  bool unshared() const override { return true; }
  bool take_over(Storage&) override { return false; }
  void hand_back(Storage&) override {}
  size_t write_off() override { return 0; }
  void dispose() override {}
  int refusals;
  bool there = false;
  int64_t value = 0;
};

}  // namespace forerun::test
