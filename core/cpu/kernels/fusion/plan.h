// The program that a group runs for each block: the steps of its ops, with numbers in place of addresses.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "array/iteration_space.h"
#include "cpu/kernels/reduce/blocked_reduction.h"
#include "cpu/loops/loop.h"

namespace forerun {

class CompiledLoop;

inline constexpr int kMostStepOperands = 1024;

// Groups with the same signature share it, so that a loop that issues the same sequence of ops repeatedly is planned
// once.
struct Plan {
  // The place of a loop's operand.
  struct Operand {
    int source = -1;                       // an array or a scalar: number of the group's address;
    int value = -1;                        // or a value in scratch memory,
    int64_t offset = 0;                    // at which it starts
    intptr_t size = 0;                     // bytes from one element to the next; 0: a scalar
    DType dtype = DType::b1;               // as the loop uses it
    int elements = -1;                     // of an array: the same number for all operands with the same elements
    int row_storage = -1;                  // number of the storage, if it has one element for each row: it shares
                                           // memory with no other one
    const IterationSpace* nest = nullptr;  // if the elements are not consecutive
    int place = 0;                         // operand number in the nest
  };
  // A reduction that a compiled loop computes by adding to the results.
  struct Sum {
    int operand, fold;
  };
  struct Step {
    Loop loop;
    int fold = -1;  // number of the group's reduction,
    Dims summed;    // its summed_rows(),
    bool by_rows = false;
    int n_in = 0;
    bool of_rows = false;       // traverses rows, not elements
    bool nested = false;        // some operand has a nest
    bool apart = false;         // copies rows of a plan with a pitch from memory, or to it
    std::vector<Piece> pieces;  // of a concatenation
    bool compiled = false;      // replaces several steps by a loop that was compiled at run time
    std::vector<Sum> sums;
    std::vector<Operand> operands;  // inputs, then outputs
    int n() const { return static_cast<int>(operands.size()); }
  };
  // Long arrays that are traversed from end to end, by the number of their address, and the sizes of their elements.
  struct Stream {
    int source;
    intptr_t size;
  };
  static constexpr size_t kMostStreams = 4;
  std::vector<uint64_t> signature;  // determines the steps
  std::vector<Step> steps;
  std::vector<std::unique_ptr<IterationSpace>> nests;
  std::vector<Stream> streams;
  int walks = 0;  // steps that traverse the elements of a block, not its rows
  size_t scratch_bytes = 0;
  int64_t block = kBlock;  // elements of a block, unless reductions cut the elements
  // If most operands are boxes of arrays with slightly longer rows, steps traverse these arrays and all values from a
  // block's first element to its last, including the gaps between rows, whose results are discarded. A value has rows
  // of `row` elements, each `pitch` elements after the one before. 0: there are no gaps between rows.
  int64_t row = 0, pitch = 0;
  // Loops that would replace some steps, if not all of them are compiled yet (segments.h).
  struct Wanted {
    std::shared_ptr<CompiledLoop> loop;
    int64_t elements;  // computed by these steps in each run
  };
  std::vector<Wanted> wanted;
};

}  // namespace forerun
