#include "cpu/cgroup_limits.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/system/machine.h"

namespace forerun {

namespace {

bool names(const std::string& controllers, const std::string& wanted) {
  std::istringstream all(controllers);
  for (std::string one; std::getline(all, one, ',');)
    if (one == wanted) return true;
  return false;
}

using Look = std::function<void(const std::string& folder)>;

// Calls `look` for a group's folder and all folders above it. If the process sees only its own group's folder, as in a
// container, the intermediate folders are missing, and the visible one counts.
void each_above(const std::string& mount, std::string group, const Look& look) {
  if (group.find("..") != std::string::npos) group.clear();  // outside of the visible folders
  for (;; group.erase(group.rfind('/'))) {
    look(mount + group);
    if (group.find('/') == std::string::npos) return;
  }
}

// The folders of the groups that hold this process: of version 2, and of version 1 for one controller.
// A line of /proc/self/cgroup is number:controllers:path; version 2 has number 0 and no controllers.
void each_group(const std::string& root, const std::string& controller, const Look& version2, const Look& version1) {
  const std::string mount = root + "/sys/fs/cgroup";
  bool found1 = false, found2 = false;
  std::ifstream lines(root + "/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    size_t a = line.find(':'), b = line.find(':', a + 1);
    if (a == std::string::npos || b == std::string::npos) continue;
    std::string controllers = line.substr(a + 1, b - a - 1), group = line.substr(b + 1);
    if (group == "/") group.clear();
    if (controllers.empty())
      found2 = true, each_above(mount, group, version2), each_above(mount + "/unified", group, version2);
    if (names(controllers, controller)) found1 = true, each_above(mount + "/" + controller, group, version1);
  }
  if (!found2) version2(mount);
  if (!found1) version1(mount + "/" + controller);
}

double quota(const std::string& root) {
  double cores = 1e9;
  auto version2 = [&](const std::string& folder) {
    std::string most;
    double period = 0;
    if (std::ifstream(folder + "/cpu.max") >> most >> period && most != "max" && period > 0)
      cores = std::min(cores, std::stod(most) / period);
  };
  auto version1 = [&](const std::string& folder) {
    double most = 0, period = 0;
    if (std::ifstream(folder + "/cpu.cfs_quota_us") >> most && most > 0 &&
        std::ifstream(folder + "/cpu.cfs_period_us") >> period && period > 0)
      cores = std::min(cores, most / period);
  };
  each_group(root, "cpu", version2, version1);
  return cores;
}

void lower(size_t& bytes, const std::string& file) {
  size_t limit = 0;  // "max" is not a number: no limit
  if (std::ifstream(file) >> limit && limit > 0) bytes = std::min(bytes, limit);
}

}  // namespace

int granted_cores(const std::string& root) {
  return std::max(1, static_cast<int>(std::min<double>(usable_cores(), std::ceil(quota(root)))));
}

size_t granted_memory(const std::string& root) {
  size_t bytes = usable_memory();
  each_group(
      root, "memory",
      [&](const std::string& folder) { lower(bytes, folder + "/memory.max"), lower(bytes, folder + "/memory.high"); },
      [&](const std::string& folder) { lower(bytes, folder + "/memory.limit_in_bytes"); });
  return bytes;
}

}  // namespace forerun
