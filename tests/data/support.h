#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/data/data.h>

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "../temporary_folder.h"

namespace heed {

/// The message of the Expected error that `f` throws; a failure if it throws none, or another.
template <class Expected, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// Each row of (B, T) ids as the task shows it.
inline std::vector<std::string> rows(const Task& task, const Tokens& tokens) {
  const auto width = static_cast<std::size_t>(tokens.dim(1));
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < tokens.data().size(); i += width)
    rows.push_back(task.decode(tokens.data().subspan(i, width)));
  return rows;
}

}  // namespace heed
