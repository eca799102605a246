# find_package(refloat) gives the targets refloat::static, refloat::shared, and refloat::refloat, which is the shared library
# where BUILD_SHARED_LIBS is set and the static one otherwise. For Emscripten there is the static one alone.
get_filename_component(_refloat_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
include(CMakeFindDependencyMacro)

if(EMSCRIPTEN)
  set(_refloat_static "${_refloat_prefix}/lib/wasm32-emscripten/librefloat_c.a")
else()
  find_dependency(Threads)
  set(_refloat_static "${_refloat_prefix}/lib/${CMAKE_STATIC_LIBRARY_PREFIX}refloat_c${CMAKE_STATIC_LIBRARY_SUFFIX}")
endif()
if(NOT EXISTS "${_refloat_static}")
  set(refloat_FOUND FALSE)
  set(refloat_NOT_FOUND_MESSAGE "there is no ${_refloat_static}; npm run build:c makes it")
  return()
endif()

if(NOT TARGET refloat::static)
  add_library(refloat::static STATIC IMPORTED)
  set_target_properties(refloat::static PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_refloat_prefix}/include")
  if(EMSCRIPTEN)
    set_target_properties(refloat::static PROPERTIES
      IMPORTED_LOCATION "${_refloat_static}"
      INTERFACE_COMPILE_OPTIONS "-msimd128"
      INTERFACE_LINK_OPTIONS "-msimd128;-sALLOW_MEMORY_GROWTH=1;-sMAXIMUM_MEMORY=4GB;-sTOTAL_STACK=2MB")
  else()
    set_target_properties(refloat::static PROPERTIES
      IMPORTED_LOCATION "${_refloat_static}"
      INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};$<$<PLATFORM_ID:Linux>:m>")
    set(_refloat_shared "${_refloat_prefix}/lib/${CMAKE_SHARED_LIBRARY_PREFIX}refloat_c${CMAKE_SHARED_LIBRARY_SUFFIX}")
    if(EXISTS "${_refloat_shared}")
      add_library(refloat::shared SHARED IMPORTED)
      set_target_properties(refloat::shared PROPERTIES
        IMPORTED_LOCATION "${_refloat_shared}"
        INTERFACE_INCLUDE_DIRECTORIES "${_refloat_prefix}/include")
    endif()
  endif()
  add_library(refloat::refloat INTERFACE IMPORTED)
  if(BUILD_SHARED_LIBS AND TARGET refloat::shared)
    set_target_properties(refloat::refloat PROPERTIES INTERFACE_LINK_LIBRARIES refloat::shared)
  else()
    set_target_properties(refloat::refloat PROPERTIES INTERFACE_LINK_LIBRARIES refloat::static)
  endif()
endif()
