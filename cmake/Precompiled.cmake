# Headers that most files include are read once for all files of a target: a third of the time of a build.
# Not beside a cache of compilers, which finds files that it has compiled before only without them; and only by GCC,
# with which it has been tried, for this processor and for another.
if(CMAKE_CXX_COMPILER_LAUNCHER OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(FORERUN_PRECOMPILE OFF)
else()
  set(FORERUN_PRECOMPILE ON)
endif()
set(FORERUN_STANDARD_HEADERS
  <algorithm> <array> <atomic> <bit> <chrono> <cmath> <condition_variable> <cstddef> <cstdint> <cstring> <functional>
  <limits> <map> <memory> <mutex> <new> <optional> <set> <span> <stdexcept> <string> <thread> <type_traits>
  <unordered_map> <utility> <vector>)

# Precompiles headers for a target; files that are compiled in another way than the rest include them as before.
function(forerun_precompile target)
  if(FORERUN_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN} ${FORERUN_STANDARD_HEADERS})
  endif()
endfunction()
