# Finds a C++20 compiler or says what to install, and collects the flags of all targets in forerun_flags.
set(FORERUN_NEEDS "forerun needs a C++20 compiler: GCC 11, Clang 14 or newer.
  Debian, Ubuntu: apt install g++    Fedora: dnf install gcc-c++    macOS: xcode-select --install
  If there is one under another name, set the environment variable CXX to it.")

include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(FATAL_ERROR "${FORERUN_NEEDS}\n  Found none.")
endif()
enable_language(CXX)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

if(NOT "cxx_std_20" IN_LIST CMAKE_CXX_COMPILE_FEATURES)
  message(FATAL_ERROR "${FORERUN_NEEDS}\n  Found ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER}).")
endif()
include(CheckCXXSourceCompiles)
check_cxx_source_compiles([[
  #include <atomic>
  #include <bit>
  #include <concepts>
  #include <span>
  template <std::integral T> T top(T x) { return std::bit_width(static_cast<unsigned>(x)); }
  int main() { std::atomic<int> a{1}; a.notify_one(); return top(a.load()); }
]] FORERUN_CXX20_WORKS)
if(NOT FORERUN_CXX20_WORKS)
  message(FATAL_ERROR "${FORERUN_NEEDS}\n  ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} "
    "(${CMAKE_CXX_COMPILER}) does not compile a small C++20 program.")
endif()

add_library(forerun_flags INTERFACE)
target_compile_features(forerun_flags INTERFACE cxx_std_20)
# No contraction to fused multiply-add: results must have the same bits whichever function the compiler puts code into.
target_compile_options(forerun_flags INTERFACE $<$<CONFIG:Release>:-O3> -Wall -Wextra -Wno-missing-field-initializers -ffp-contract=off)
if(FORERUN_SANITIZE)
  # Without vptr: free lists link objects whose destructor has run.
  target_compile_options(forerun_flags INTERFACE
    -fsanitize=${FORERUN_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer -g1)
  target_link_options(forerun_flags INTERFACE -fsanitize=${FORERUN_SANITIZE})
endif()
