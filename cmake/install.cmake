# find_package(heed CONFIG): the rooms as heed::autograd, heed::layers, heed::data and heed::train.

include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
install(EXPORT heed-targets NAMESPACE heed:: DESTINATION ${package})
configure_package_config_file(cmake/heedConfig.cmake.in ${PROJECT_BINARY_DIR}/heedConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heedConfig.cmake ${PROJECT_BINARY_DIR}/heedConfigVersion.cmake DESTINATION ${package})
