// Small places in host memory that is registered with a client, so that its devices copy to them directly.
//
// A copy to other host memory blocks the plugin's thread that makes it until the previous computation has ended.
#pragma once
#include <mutex>
#include <utility>
#include <vector>

#include "pjrt/client.h"

namespace forerun::pjrt {

class StagingPool {
 public:
  // One of the places, until it is destroyed.
  class Place {
   public:
    Place() = default;
    Place(StagingPool& pool, size_t kind, char* data) : pool_(&pool), kind_(kind), data_(data) {}
    Place(Place&& o) noexcept : pool_(o.pool_), kind_(o.kind_), data_(std::exchange(o.data_, nullptr)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (data_) pool_->give_back(kind_, data_);
    }
    explicit operator bool() const { return data_; }
    char* data() const { return data_; }

   private:
    StagingPool* pool_ = nullptr;
    size_t kind_ = 0;
    char* data_ = nullptr;
  };

  explicit StagingPool(const Client& client) : client_(client) {}
  ~StagingPool();
  // A place for so many bytes; empty if there are too many bytes, all such places are taken, or the client registers no
  // memory. Any thread.
  Place take(size_t bytes);

 private:
  // Many for results of checks, one for each pending operation; some for small arrays.
  struct Kind {
    size_t bytes, count;
    std::vector<char*> free;
  };
  void give_back(size_t kind, char* place);
  void allocate();

  const Client& client_;
  std::mutex mutex_;  // guards the rest
  char* memory_ = nullptr;
  bool allocated_ = false;  // or it was tried
  Kind kinds_[2] = {{256, 1024, {}}, {64 << 10, 16, {}}};
};

}  // namespace forerun::pjrt
