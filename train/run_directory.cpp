#include <heed/autograd/error.h>
#include <heed/train/run_directory.h>

#include <array>
#include <ctime>
#include <random>
#include <system_error>

namespace heed {
namespace {

namespace fs = std::filesystem;

/// As 20260131-142501, in local time.
std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> buffer{};
  return {buffer.data(), std::strftime(buffer.data(), buffer.size(), "%Y%m%d-%H%M%S", &local)};
}

/// Four hexadecimal digits, another each time; training draws nothing from here.
std::string random_id() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device device;
  std::string id;
  for (int i = 0; i < 4; ++i) id += kDigits[device() % kDigits.size()];
  return id;
}

[[noreturn]] void fail(const fs::path& path, const std::error_code& error) {
  throw FileError(text("cannot make the run directory ", path.string(), ": ", error.message()));
}

bool is_run(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / "config.toml", ignored);
}

}  // namespace

RunDirectory RunDirectory::create(const fs::path& root, std::string_view task) {
  std::error_code error;
  fs::create_directories(root, error);
  if (error) fail(root, error);
  for (;;) {
    const RunDirectory run(root / text(task, "-", time_now(), "-", random_id()));
    const bool made = fs::create_directory(run.path(), error);
    if (error) fail(run.path(), error);
    if (!made) continue;
    fs::create_directory(run.checkpoints(), error);
    if (!error) return run;
    std::error_code ignored;
    fs::remove(run.path(), ignored);
    fail(run.path(), error);
  }
}

RunDirectory RunDirectory::open(const fs::path& path) {
  if (is_run(path)) return RunDirectory(path);
  fs::path newest;
  fs::file_time_type newest_time;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!is_run(entry->path())) continue;
    std::error_code gone;  // others may remove runs meanwhile
    const fs::file_time_type time = fs::last_write_time(entry->path() / "config.toml", gone);
    if (gone || (!newest.empty() && time <= newest_time)) continue;
    newest = entry->path();
    newest_time = time;
  }
  if (error) throw FileError(text("no run at ", path.string(), ": ", error.message()));
  if (newest.empty())
    throw FileError(text("no run at ", path.string(), ": a run is a folder with a config.toml"));
  return RunDirectory(newest);
}

}  // namespace heed
