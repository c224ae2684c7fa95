# A room is a static library with an include root of its own. `#include <heed/data/batch.h>` is found through
# build/include/data/heed/data, a folder of links to the source, and only targets that link heed::data are given
# build/include/data. A room that includes past its border therefore does not compile, however the program is linked.

# heed_link_entries(folder entries...): makes `folder` hold links to `entries` and nothing else.
function(heed_link_entries folder)
  file(REMOVE_RECURSE ${folder})
  file(MAKE_DIRECTORY ${folder})
  foreach(entry IN LISTS ARGN)
    get_filename_component(name ${entry} NAME)
    file(CREATE_LINK ${entry} ${folder}/${name} SYMBOLIC)
  endforeach()
endfunction()

# heed_add_room(room [PRIVATE_FOLDERS folder...]): the target heed_<room>, alias heed::<room>.
# The room's CMakeLists.txt lists its sources with target_sources. PRIVATE_FOLDERS are in neither the include root nor
# the installed package; whoever may include them links heed_<room>_private.
function(heed_add_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" PRIVATE_FOLDERS)
  set(source ${CMAKE_CURRENT_SOURCE_DIR})
  set(roots ${PROJECT_BINARY_DIR}/include)

  file(GLOB headers CONFIGURE_DEPENDS ${source}/*.h)
  file(GLOB folders LIST_DIRECTORIES true ${source}/*)
  foreach(entry IN LISTS folders)
    get_filename_component(name ${entry} NAME)
    if(NOT IS_DIRECTORY ${entry} OR name IN_LIST arg_PRIVATE_FOLDERS)
      list(REMOVE_ITEM folders ${entry})
    endif()
  endforeach()
  heed_link_entries(${roots}/${room}/heed/${room} ${headers} ${folders})

  add_library(heed_${room} STATIC)
  set_target_properties(heed_${room} PROPERTIES LINKER_LANGUAGE CXX)
  add_library(heed::${room} ALIAS heed_${room})
  set_target_properties(heed_${room} PROPERTIES EXPORT_NAME ${room} POSITION_INDEPENDENT_CODE ON)
  heed_compile(heed_${room})
  target_include_directories(
    heed_${room} PUBLIC $<BUILD_INTERFACE:${roots}/${room}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

  set(excluded)
  if(arg_PRIVATE_FOLDERS)
    list(TRANSFORM arg_PRIVATE_FOLDERS PREPEND ${source}/ OUTPUT_VARIABLE private_folders)
    heed_link_entries(${roots}/${room}-private/heed/${room} ${private_folders})
    add_library(heed_${room}_private INTERFACE)
    target_include_directories(heed_${room}_private INTERFACE ${roots}/${room}-private)
    foreach(folder IN LISTS arg_PRIVATE_FOLDERS)
      list(APPEND excluded PATTERN ${folder} EXCLUDE)
    endforeach()
  endif()

  install(TARGETS heed_${room} EXPORT heed-targets)
  install(DIRECTORY ${source}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed/${room}
          FILES_MATCHING PATTERN *.h ${excluded})
endfunction()
