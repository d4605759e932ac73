#include "cpu/loops/item.h"

namespace forerun {

void repeat_item(char* to, const unsigned char* value, size_t size, int64_t n) {
  with_item(size, [&]<class T>(T) { repeat<T>(to, value, n); });
}

}  // namespace forerun
