// MPI as a network: calls the functions of the library that the process has loaded already, with either of the two
// ABIs.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "net/network.h"

namespace forerun::net {

// The differences between libraries, as found by the front end: handles are ints (MPICH and its relatives) or pointers
// (Open MPI), stored here as numbers.
struct MpiLibrary {
  const char* path = "";  // of a library that provides all functions of MPI
  bool pointers = false;
  int64_t in_place = 0, any_source = 0, sum = 0, max = 0, min = 0, bytes = 0;
  std::vector<int64_t> dtypes;  // of each DType; 0: the library has no such type
};
struct MpiGroup {
  int64_t values = 0, checks = 0;  // two communicators of the same ranks
  int rank = 0;
  std::vector<int> world_ranks;
};

// A network with groups, which any thread may add.
class MpiNetwork : public Network {
 public:
  virtual void add_group(uint32_t number, MpiGroup group) = 0;
};

// Group 0 is the world. Throws std::runtime_error if the library lacks a function.
std::unique_ptr<MpiNetwork> open_mpi(const MpiLibrary& library, MpiGroup world);

}  // namespace forerun::net
