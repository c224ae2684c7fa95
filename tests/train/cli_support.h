#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "process.h"
#include "support.h"

namespace heed {

/// A training that takes a moment.
inline std::vector<std::string> tiny(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"train",   "copy", "--context", "6",  "--d-model",    "8",
                                 "--batch", "4",    "--steps",   "20", "--eval-every", "5"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The one run in a folder of runs.
inline std::filesystem::path only_run(const std::filesystem::path& runs) {
  const auto entries = std::filesystem::directory_iterator(runs);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
  return begin(std::filesystem::directory_iterator(runs))->path();
}

inline std::string last_checkpoint(const std::filesystem::path& run) {
  return read_file(run / "checkpoints/last.safetensors");
}

inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  for (const std::string& line : lines_of(text)) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// The last line, which is the result.
inline nlohmann::json last_json(const std::string& text) {
  const auto lines = json_lines(text);
  return lines.empty() ? nlohmann::json::object() : lines.back();
}

}  // namespace heed
