// Sizes of memory, for messages.
#pragma once
#include <cstdio>
#include <string>

namespace forerun {

// For example "36.4 TiB"; "800 bytes" below one KiB.
inline std::string readable_size(double bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 6; ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
  return text;
}

}  // namespace forerun
