// The program of a group for each block: the steps of its ops, with numbers in place of addresses.
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

// Groups that do the same share it, so that a loop that issues the same string of ops again and again is planned once.
struct Plan {
  // Where a loop finds an operand.
  struct Operand {
    int source = -1;                       // an array or a scalar: number of the group's address;
    int value = -1;                        // or a value in scratch memory,
    int64_t offset = 0;                    // which starts there
    intptr_t size = 0;                     // bytes from one element to the next; 0: a scalar
    DType dtype = DType::b1;               // as the loop sees it
    int elements = -1;                     // of an array: the same number for all operands that are the same elements
    int row_storage = -1;                  // number of the storage, if it has one element for each row: it shares
                                           // memory with no other
    const IterationSpace* nest = nullptr;  // if the elements do not follow one another
    int place = 0;                         // in the nest
  };
  // A reduction that a compiled loop does, which adds to its results.
  struct Sum {
    int operand, fold;
  };
  struct Step {
    Loop loop;
    int fold = -1;  // number of the group's reduction,
    Dims summed;    // its summed_rows(),
    bool by_rows = false;
    int n_in = 0;
    bool of_rows = false;       // walks rows, not elements
    bool nested = false;        // some operand has a nest
    bool apart = false;         // copies rows of a plan with a pitch from memory, or to it
    std::vector<Piece> pieces;  // of a concatenation
    bool compiled = false;      // does what several steps did, by a loop that was compiled at run time
    std::vector<Sum> sums;
    std::vector<Operand> operands;  // inputs, then outputs
    int n() const { return static_cast<int>(operands.size()); }
  };
  // Long arrays that are walked from end to end, by the number of their address, and their elements' sizes.
  struct Stream {
    int source;
    intptr_t size;
  };
  static constexpr size_t kMostStreams = 4;
  std::vector<uint64_t> signature;  // all that the steps follow from
  std::vector<Step> steps;
  std::vector<std::unique_ptr<IterationSpace>> nests;
  std::vector<Stream> streams;
  size_t scratch_bytes = 0;
  int64_t block = kBlock;  // elements of a block, unless reductions cut the elements
  // Where most operands are boxes of arrays whose rows are little longer, steps walk these arrays and all values from a
  // block's first element to its last, and what lies between two rows with them, of which nothing is kept. A value has
  // rows of `row` elements, each `pitch` elements after the one before. 0: there is nothing between rows.
  int64_t row = 0, pitch = 0;
  // Loops that would do the work of some steps, where not all of them are compiled (segments.h).
  struct Wanted {
    std::shared_ptr<CompiledLoop> loop;
    int64_t elements;  // that these steps compute in each run
  };
  std::vector<Wanted> wanted;
};

}  // namespace forerun
