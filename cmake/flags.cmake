# What every target of ours is compiled with. Libraries come in as system includes and are spared the warnings.

include(CheckCXXSourceCompiles)
include(CheckCXXSourceRuns)

set(heed_options
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
    # Neither changes a value: they only give up errno and the exception flags, which otherwise keep loops from
    # being vectorised. -ffast-math would change values and is never used.
    -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 raises false alarms in its own std::function and AVX-512 intrinsics (its bugs 105562, 105593). Clang's
  # -Wuninitialized and -Wsometimes-uninitialized, in -Wall, keep watch.
  list(APPEND heed_options -Wno-maybe-uninitialized)
  if(CMAKE_UNITY_BUILD) # a file that is compiled in a batch looks like a header to it
    list(APPEND heed_options -Wno-subobject-linkage)
  endif()
endif()
if(HEED_WERROR)
  list(APPEND heed_options -Werror)
endif()
if(HEED_FUZZ)
  list(APPEND heed_options -fsanitize=fuzzer-no-link)
endif()

if(HEED_NATIVE)
  list(APPEND heed_options -march=native)
  set(CMAKE_REQUIRED_FLAGS -march=native)
  check_cxx_source_compiles("#ifndef __AVX512F__\n#error\n#endif\nint main() {}" HEED_CPU_HAS_AVX512)
  # GCC 12 takes a constant of 32 bytes such as {a, a, a, 0} for four times a where it copies it in one AVX-512 store:
  # tensor({1, 1, 1, 0}, {4}, f64) holds four ones. It copies by 16 bytes rightly.
  set(CMAKE_REQUIRED_FLAGS "-O2 -march=native")
  check_cxx_source_runs([[
    #include <cstring>
    void copy(double* to) { const double from[] = {1, 1, 1, 0}; std::memcpy(to, from, sizeof from); }
    int main() { static double to[4]; void (*volatile call)(double*) = copy; call(to); return to[3] != 0; }
    ]] HEED_COPIES_CONSTANTS)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT HEED_COPIES_CONSTANTS)
    list(APPEND heed_options -mmove-max=128 -mstore-max=128)
  endif()
  # GCC 12 tunes for new CPUs in a way that costs Eigen's AVX-512 kernels a fifth of their speed (1024^3 in f32:
  # 180 GFLOP/s with plain -march=native, 230 with this).
  if(HEED_CPU_HAS_AVX512 AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND heed_options -mtune=skylake-avx512)
  endif()
endif()

# heed_compile(target): C++20 without extensions, with our warnings and code generation.
function(heed_compile target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE ${heed_options})
endfunction()
