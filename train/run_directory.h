#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace heed {

/// The folder that holds all there is of one training:
///
///     runs/copy-20260131-142501-3fa9/
///       config.toml      every setting, to run it again
///       metrics.jsonl    one object a line
///       log.txt
///       checkpoints/     safetensors
class RunDirectory {
 public:
  /// Makes a new one, `root`/`task`-<time>-<id>, and `root` itself if it has to; never takes one
  /// that exists. Throws FileError naming the place and the reason, and then leaves nothing behind.
  static RunDirectory create(const std::filesystem::path& root, std::string_view task);
  /// The run at `path`, or the newest one in it if it is a folder of runs. Throws FileError if
  /// there is none.
  static RunDirectory open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  /// The weights the training ended with.
  std::filesystem::path last_checkpoint() const { return checkpoints() / "last.safetensors"; }

 private:
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace heed
