// Regions of random parts of arrays: overlaps are always found, and disjoint regions nearly always.
#include <algorithm>
#include <set>
#include <string>

#include "array/layout.h"
#include "program.h"
#include "regions/layout_parts.h"

using namespace forerun;
using namespace forerun::test;

namespace {

std::set<int64_t> bytes_of(const Layout& layout) {
  std::set<int64_t> bytes;
  for (int64_t i = 0; i < layout.size; ++i) {
    const int64_t at = layout.offset + offset_at(i, layout.shape, layout.strides);
    for (int64_t b = 0; b < static_cast<int64_t>(item_size(layout.dtype)); ++b) bytes.insert(at + b);
  }
  return bytes;
}

bool meet(const std::set<int64_t>& a, const std::set<int64_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](int64_t at) { return b.count(at); });
}

// Regions never miss an overlap; and for two blocks of a matrix, or for boxes that differ along one axis, they report
// no false overlap. A region that overlaps one inside another region overlaps that one, too.
void check_regions(int rounds) {
  Random random(5);
  int known_apart = 0, apart = 0;
  for (int i = 0; i < rounds; ++i) {
    Dims shape = random() % 2 ? Dims{4, 9} : random() % 2 ? Dims{3, 4, 5} : random() % 2 ? Dims{2, 3, 2, 5} : Dims{23};
    bool stepped = random() % 2;
    Layout whole = Layout::dense(random() % 2 ? DType::f64 : DType::u8, shape);
    Layout a = part_of(whole, random, stepped), b = part_of(whole, random, stepped);
    bool known = a.region().apart(b.region()), overlap = meet(bytes_of(a), bytes_of(b));
    check(known == b.region().apart(a.region()), "both see the same");
    check(!(known && overlap), "overlapping regions are not apart");
    known_apart += known, apart += !overlap;
    const bool contains = a.region().contains(b.region());
    Layout c = part_of(whole, random, stepped);
    check(!(contains && a.region().apart(c.region()) && meet(bytes_of(b), bytes_of(c))),
          "a part that overlaps an inner one overlaps the outer one");
    if (!stepped && shape.size() <= 2) {
      check(known == !overlap, "blocks of a matrix are distinguished");
      const std::set<int64_t> all = bytes_of(a), some = bytes_of(b);
      check(contains == std::includes(all.begin(), all.end(), some.begin(), some.end()), "and those in others found");
    }
    int64_t bytes = 0;
    Layout copy = a.apart(bytes);
    auto [low, high] = copy.range();
    check(low == 0 && high <= bytes && copy.size == a.size, "a copy has room for its elements");
    check(!copy.overlaps_itself() && copy.contiguous() == a.contiguous(), "a copy lies as its elements did");
  }
  check(known_apart * 10 >= apart * 9, "nearly all that does not overlap is known to: " + std::to_string(known_apart) +
                                           " of " + std::to_string(apart));
  // The diagonal and the elements beside it; even and odd elements.
  Layout square = Layout::dense(DType::f64, Dims{8, 8}), even = Layout::dense(DType::f64, Dims{4}), odd = even,
         diagonal = even, under = even;
  even.strides = odd.strides = Dims{16}, odd.offset = 8;
  diagonal.strides = under.strides = Dims{72}, under.offset = 64;
  check(even.region().apart(odd.region()) && diagonal.region().apart(under.region()) &&
            !diagonal.region().apart(square.region()),
        "steps");
}

}  // namespace

int main() {
  check_regions(kSanitized ? 3000 : 30000);
  return 0;
}
