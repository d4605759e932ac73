#include "base/system/machine.h"

#if defined(_WIN32)
#include "base/system/windows.h"
#else
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <thread>

namespace forerun {

#if defined(_WIN32)
namespace {

// Queries the innermost job, a group of processes with limits, that this process belongs to. False: it is in no job.
template <class T>
bool ask_job(JOBOBJECTINFOCLASS kind, T& facts) {
  return QueryInformationJobObject(nullptr, kind, &facts, sizeof facts, nullptr);
}

// The share of the machine's processor time that the job may use.
double job_share() {
  JOBOBJECT_CPU_RATE_CONTROL_INFORMATION rate{};
  if (!ask_job(JobObjectCpuRateControlInformation, rate)) return 1;
  constexpr double kWhole = 10'000;
  const DWORD flags = rate.ControlFlags;
  if (!(flags & JOB_OBJECT_CPU_RATE_CONTROL_ENABLE)) return 1;
  if (flags & JOB_OBJECT_CPU_RATE_CONTROL_MIN_MAX_RATE) return (rate.CpuRate >> 16) / kWhole;  // above the minimum rate
  return flags & JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP ? rate.CpuRate / kWhole : 1;
}

std::string fact_of_processor(const char* name) {
  char text[256] = {};
  DWORD size = sizeof text;
  RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", name, RRF_RT_REG_SZ, nullptr,
               text, &size);
  return std::string(text) + '\n';
}

}  // namespace

int usable_cores() {
  const int all = std::max(1, static_cast<int>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS)));
  DWORD_PTR own = 0, machine = 0;  // of one processor group, of at most 64 CPUs; a process that uses all of it may use
                                   // other groups, too
  GetProcessAffinityMask(GetCurrentProcess(), &own, &machine);
  const int allowed = own == machine ? all : std::popcount(static_cast<uint64_t>(own));
  return std::max(1, std::min(allowed, static_cast<int>(std::ceil(job_share() * all))));
}

size_t usable_memory() {
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof memory;
  GlobalMemoryStatusEx(&memory);
  size_t bytes = std::min({memory.ullTotalPhys, memory.ullTotalPageFile, memory.ullTotalVirtual});
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION job{};
  if (!ask_job(JobObjectExtendedLimitInformation, job)) return bytes;
  const DWORD limits = job.BasicLimitInformation.LimitFlags;
  if (limits & JOB_OBJECT_LIMIT_PROCESS_MEMORY) bytes = std::min(bytes, job.ProcessMemoryLimit);
  if (limits & JOB_OBJECT_LIMIT_JOB_MEMORY) bytes = std::min(bytes, job.JobMemoryLimit);
  return bytes;
}

std::string processor_identity() { return fact_of_processor("ProcessorNameString") + fact_of_processor("Identifier"); }
#else
int usable_cores() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

size_t usable_memory() {
  size_t bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  for (auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit own{};
    if (getrlimit(kind, &own) == 0 && own.rlim_cur != RLIM_INFINITY) bytes = std::min<size_t>(bytes, own.rlim_cur);
  }
  return bytes;
}

#ifdef __APPLE__
std::string processor_identity() {
  char text[256] = {};
  size_t size = sizeof text;
  sysctlbyname("machdep.cpu.brand_string", text, &size, nullptr, 0);
  return std::string(text) + '\n';
}
#else
std::string processor_identity() {
  std::ifstream file("/proc/cpuinfo");
  std::string all, line;
  while (std::getline(file, line) && !line.empty())  // of the first core
    for (const char* start : {"model name", "flags", "Features", "CPU part"})
      if (line.starts_with(start)) all += line + '\n';
  return all;
}
#endif
#endif

}  // namespace forerun
