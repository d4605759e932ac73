#include "engine/operations/storage.h"

#include "base/containers/free_list.h"
#include "engine/operations/op.h"

namespace forerun {

void Storage::drop_sections() {
  while (Section* section = sections) sections = section->next, FreeList<Section>::give(section);
  n_sections = 0;
}

FailurePtr Storage::failure_in(const Region& region) const {
  if (poisoned.empty()) return failure;
  FailurePtr first;
  for (const PoisonedRegion& one : poisoned)
    if (!one.region.apart(region) && (!first || one.failure->earlier(*first))) first = one.failure;
  return first;
}

void Storage::poison(const Region& region, const FailurePtr& why) {
  if (region == Region{}) return set_failure(why);
  bool known = if_memory_allows([&] {
    if (poisoned.empty() && failure) poisoned.push_back({Region{}, failure});
    for (PoisonedRegion& one : poisoned)
      if (one.region == region) return void(one.failure = why);
    poisoned.push_back({region, why});
  });
  if (!failure || why->earlier(*failure)) failure = why;
  if (!known) set_failure(FailurePtr(failure));
}

}  // namespace forerun
