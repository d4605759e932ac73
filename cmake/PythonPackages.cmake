# Asks the interpreter where NumPy's headers and the OpenBLAS wheel lie.
#
# Sets FORERUN_NUMPY_INCLUDE, FORERUN_BLAS_SOURCE, FORERUN_BLAS (the copy in the build folder),
# FORERUN_BLAS_EXTRA (libraries that it needs beside it), FORERUN_LICENCES and FORERUN_STRIP.

# Prints the expression's value after importing the module; stops with the package's name if there is none.
function(forerun_ask variable module expression)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c "import ${module} as m, os; print(${expression})"
    OUTPUT_VARIABLE answer ERROR_VARIABLE trouble RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "building forerun needs the package ${module} for ${Python_EXECUTABLE}, got:\n${trouble}\n"
      "  `pip install .` brings it; without build isolation install the [build-system] requirements of pyproject.toml first.")
  endif()
  set(${variable} "${answer}" PARENT_SCOPE)
endfunction()

# ---- NumPy -----------------------------------------------------------------------------------------------------
forerun_ask(FORERUN_NUMPY_INCLUDE numpy "m.get_include()")

# ---- OpenBLAS --------------------------------------------------------------------------------------------------
if(NOT FORERUN_BLAS_DIR)  # given for another processor than the interpreter's
  forerun_ask(FORERUN_BLAS_DIR scipy_openblas32 "m.get_lib_dir()")
endif()
file(GLOB FORERUN_BLAS_SOURCE "${FORERUN_BLAS_DIR}/libscipy_openblas*${CMAKE_SHARED_LIBRARY_SUFFIX}")
list(LENGTH FORERUN_BLAS_SOURCE found)
if(NOT found EQUAL 1)
  message(FATAL_ERROR "scipy-openblas32 should hold one libscipy_openblas*${CMAKE_SHARED_LIBRARY_SUFFIX} in ${FORERUN_BLAS_DIR}, got: ${FORERUN_BLAS_SOURCE}")
endif()
file(REAL_PATH "${FORERUN_BLAS_SOURCE}" FORERUN_BLAS_SOURCE)
# Older wheels carry the Fortran run time as libraries of its own; they find each other by the run path $ORIGIN.
file(GLOB FORERUN_BLAS_EXTRA "${FORERUN_BLAS_DIR}/libgfortran*" "${FORERUN_BLAS_DIR}/libquadmath*")
set(FORERUN_BLAS "${CMAKE_BINARY_DIR}/lib/libforerun_openblas${CMAKE_SHARED_LIBRARY_SUFFIX}")
if(CMAKE_STRIP AND NOT APPLE)
  set(FORERUN_STRIP "${CMAKE_STRIP}" --strip-unneeded)
else()
  set(FORERUN_STRIP ${CMAKE_COMMAND} -E true)
endif()

# ---- licences of other code in the wheel -----------------------------------------------------------------------
set(FORERUN_LICENCES "")
function(forerun_licence name path)
  if(EXISTS "${path}")
    configure_file("${path}" "${CMAKE_BINARY_DIR}/licenses/${name}.txt" COPYONLY)
    set(FORERUN_LICENCES ${FORERUN_LICENCES} "${CMAKE_BINARY_DIR}/licenses/${name}.txt" PARENT_SCOPE)
  endif()
endfunction()
function(forerun_licence_of name package)  # the text that stands highest in the package's metadata
  forerun_ask(path importlib.metadata
    "min((str(f.locate()) for f in m.files('${package}') or [] if 'LICENSE' in f.name and '.dist-info' in str(f)), key=len, default='')")
  if(NOT path)
    message(FATAL_ERROR "a wheel must carry the licence of ${package}: found none in its metadata")
  endif()
  forerun_licence(${name} "${path}")
  set(FORERUN_LICENCES ${FORERUN_LICENCES} PARENT_SCOPE)
endfunction()
forerun_licence_of(openblas scipy-openblas32)
forerun_licence_of(numpy numpy)
if(FORERUN_PYTHON)
  forerun_licence_of(nanobind nanobind)
  # nanobind brings a hash map whose licence is the comment at the top of its header.
  forerun_ask(FORERUN_NANOBIND nanobind "os.path.dirname(m.__file__)")
  file(READ "${FORERUN_NANOBIND}/ext/robin_map/include/tsl/robin_map.h" text LIMIT 4000)
  if(NOT text MATCHES "MIT License")
    message(FATAL_ERROR "robin_map.h should begin with its licence")
  endif()
  string(FIND "${text}" "*/" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  string(REGEX REPLACE "(^|\n) ?/?\\*+ ?" "\\1" text "${text}")
  file(WRITE "${CMAKE_BINARY_DIR}/licenses/robin_map.txt" "${text}\n")
  list(APPEND FORERUN_LICENCES "${CMAKE_BINARY_DIR}/licenses/robin_map.txt")
endif()
