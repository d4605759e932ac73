#include "net/mpi.h"

#include <climits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/system/library.h"

namespace forerun::net {

namespace {

constexpr int kMessageTag = 1, kValueTag = 2, kNoteTag = 3;

// H: the type of the library's handles.
template <class H>
struct Functions {
  int (*allreduce)(const void*, void*, int, H, H, H, H*);
  int (*broadcast)(void*, int, H, int, H, H*);
  int (*allgather)(const void*, int, H, void*, int, H, H, H*);
  int (*reduce_scatter)(const void*, void*, int, H, H, H, H*);
  int (*all_to_all)(const void*, int, H, void*, int, H, H, H*);
  int (*barrier)(H, H*);
  int (*send)(const void*, int, H, int, int, H, H*);
  int (*receive)(void*, int, H, int, int, H, H*);
  int (*test)(H*, int*, void*);
  int (*error_string)(int, char*, int*);
  int (*cancel)(H*);
  int (*wait)(H*, void*);

  explicit Functions(const char* path) {
    std::string error;
    void* library = open_library(path, error);
    if (!library) throw std::runtime_error(error);
    auto find = [&](auto& f, const char* name) {
      f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(find_symbol(library, name));
      if (!f) throw std::runtime_error(std::string("MPI must have ") + name + ", got " + path);
    };
    find(allreduce, "MPI_Iallreduce"), find(broadcast, "MPI_Ibcast"), find(allgather, "MPI_Iallgather");
    find(reduce_scatter, "MPI_Ireduce_scatter_block"), find(all_to_all, "MPI_Ialltoall"), find(barrier, "MPI_Ibarrier");
    find(send, "MPI_Isend"), find(receive, "MPI_Irecv"), find(test, "MPI_Test");
    find(error_string, "MPI_Error_string"), find(cancel, "MPI_Cancel"), find(wait, "MPI_Wait");
  }
  void check(int code) const {
    if (code == 0) return;
    char text[2048] = {};  // more than any library's MPI_MAX_ERROR_STRING
    int length = 0;
    error_string(code, text, &length);
    throw std::runtime_error(text);
  }
};

template <class H>
H handle(int64_t number) {
  if constexpr (std::is_pointer_v<H>)
    return reinterpret_cast<H>(static_cast<intptr_t>(number));
  else
    return static_cast<H>(number);
}

template <class H>
class Mpi final : public MpiNetwork {
 public:
  Mpi(const MpiLibrary& library, MpiGroup world) : mpi_(library.path), library_(library) {
    rank_ = world.rank, size_ = static_cast<int>(world.world_ranks.size());
    add_group(0, std::move(world));
  }
  ~Mpi() override = default;  // MPI may have ended, or must not be called

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int group_size(uint32_t group) const override { return static_cast<int>(of(group).world_ranks.size()); }
  int world_rank(uint32_t group, int rank) const override { return of(group).world_ranks[static_cast<size_t>(rank)]; }
  void add_group(uint32_t number, MpiGroup group) override {
    std::lock_guard<std::mutex> held(mutex_);
    groups_[number] = std::move(group);
  }

  RequestPtr start(const Call& call, const void* from, void* to) override {
    if (call.count > INT_MAX)
      throw std::runtime_error("an operation must have at most 2147483647 elements, got " + std::to_string(call.count));
    const int n = static_cast<int>(call.count);
    const H comm = handle<H>(of(call.group).values), type = type_of(call);
    const H op = handle<H>(call.reduction == Reduction::max   ? library_.max
                           : call.reduction == Reduction::min ? library_.min
                                                              : library_.sum);
    if (call.in_place && call.kind == Kind::allreduce) from = reinterpret_cast<const void*>(library_.in_place);
    return made([&](H* request) {
      switch (call.kind) {
        case Kind::allreduce: return mpi_.allreduce(from, to, n, type, op, comm, request);
        case Kind::broadcast: return mpi_.broadcast(to, n, type, call.peer, comm, request);
        case Kind::allgather: return mpi_.allgather(from, n, type, to, n, type, comm, request);
        case Kind::reduce_scatter: return mpi_.reduce_scatter(from, to, n, type, op, comm, request);
        case Kind::all_to_all: return mpi_.all_to_all(from, n, type, to, n, type, comm, request);
        case Kind::send: return mpi_.send(from, n, type, call.peer, kValueTag, comm, request);
        case Kind::receive: return mpi_.receive(to, n, type, call.peer, kValueTag, comm, request);
        case Kind::barrier: return mpi_.barrier(comm, request);
      }
      return 0;
    });
  }
  RequestPtr compare(uint32_t group, const int64_t* from, int64_t* to, int count) override {
    const H comm = handle<H>(of(group).checks), type = handle<H>(library_.dtypes[static_cast<size_t>(DType::i64)]);
    return made(
        [&](H* request) { return mpi_.allreduce(from, to, count, type, handle<H>(library_.max), comm, request); });
  }
  RequestPtr exchange(uint32_t group, const void* from, void* to, int bytes) override {
    const H comm = handle<H>(of(group).checks), type = handle<H>(library_.bytes);
    return made([&](H* request) { return mpi_.allgather(from, bytes, type, to, bytes, type, comm, request); });
  }
  RequestPtr post(uint32_t group, const void* from, int bytes, int rank) override {
    const H comm = handle<H>(of(group).checks), type = handle<H>(library_.bytes);
    return made([&](H* request) { return mpi_.send(from, bytes, type, rank, kNoteTag, comm, request); });
  }
  RequestPtr fetch(uint32_t group, void* to, int bytes, int rank) override {
    const H comm = handle<H>(of(group).checks), type = handle<H>(library_.bytes);
    return made([&](H* request) { return mpi_.receive(to, bytes, type, rank, kNoteTag, comm, request); });
  }
  RequestPtr send_message(const Message& message, int rank) override {
    return made([&](H* request) {
      return mpi_.send(&message, sizeof message, handle<H>(library_.bytes), rank, kMessageTag, handle<H>(of(0).checks),
                       request);
    });
  }
  bool receive_message(Message& message) override {
    if (!listening_)
      listening_ = made([&](H* request) {
        return mpi_.receive(&heard_, sizeof heard_, handle<H>(library_.bytes), static_cast<int>(library_.any_source),
                            kMessageTag, handle<H>(of(0).checks), request);
      });
    if (!listening_->test()) return false;
    message = heard_, listening_.reset();
    return true;
  }
  void stop_listening() override {
    if (listening_) static_cast<Pending&>(*listening_).cancel(), listening_.reset();
  }

 private:
  struct Pending final : Request {
    explicit Pending(const Functions<H>& mpi) : mpi(mpi) {}
    bool test() override {
      int done = 0;
      mpi.check(mpi.test(&request, &done, status));
      return done != 0;
    }
    void cancel() { mpi.cancel(&request), mpi.wait(&request, status); }
    const Functions<H>& mpi;
    H request{};
    alignas(16) char status[256];  // more than any library's MPI_Status
  };
  template <class F>
  RequestPtr made(F start) {
    auto pending = std::make_unique<Pending>(mpi_);
    mpi_.check(start(&pending->request));
    return pending;
  }
  // MPI has no 16-bit floats to compute with, but it can transfer them.
  H type_of(const Call& call) const {
    const bool moves = !call.collective() && item_size(call.dtype) == 2;
    return handle<H>(library_.dtypes[static_cast<size_t>(moves ? DType::i16 : call.dtype)]);
  }
  // A group's address is stable.
  const MpiGroup& of(uint32_t group) const {
    std::lock_guard<std::mutex> held(mutex_);
    return groups_.at(group);
  }

  const Functions<H> mpi_;
  const MpiLibrary library_;
  int rank_ = 0, size_ = 1;
  mutable std::mutex mutex_;
  std::map<uint32_t, MpiGroup> groups_;
  RequestPtr listening_;
  Message heard_;
};

}  // namespace

std::unique_ptr<MpiNetwork> open_mpi(const MpiLibrary& library, MpiGroup world) {
  if (library.pointers) return std::make_unique<Mpi<void*>>(library, std::move(world));
  return std::make_unique<Mpi<int>>(library, std::move(world));
}

}  // namespace forerun::net
