#include "python/runtime/submission/capture.h"

#include <string>
#include <utility>

#include "array/array.h"
#include "capture/captured_program.h"
#include "cpu/kernels/copy/copy.h"
#include "engine/devices/memory_budget.h"
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

constinit thread_local Recording* capture = nullptr;

void refuse_in_capture(const char* how) {
  if (!capture || !capture->repeatable()) return;
  Site where = site(current_site());
  std::string what = std::string(how) + " (" + where.file + ":" + std::to_string(where.line) +
                     ") is not allowed while the block is captured";
  if (capture->strict)
    throw Error(ErrorKind::runtime, "hybridize: " + what + "; without strict=True the block runs as written");
  capture->refuse_read(what, std::move(where.file), where.line);
}

Array with_values(Array made) {
  if (!capture) return made;
  Array fresh = Array::make(made.layout.dtype, made.layout.shape, made.storage()->budget);
  const bool is_all_of_it = made.layout.offset == 0 && fresh.storage()->bytes == made.storage()->bytes;
  if (is_all_of_it) fresh.layout.strides = made.layout.strides;  // the same strides, so that results have the same bits
  Building op;
  build_copy(*op, made, fresh);
  op.issue(device_of(fresh));
  return fresh;
}

}  // namespace forerun
