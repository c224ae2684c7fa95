#include <fcntl.h>
#include <heed/autograd/error.h>
#include <heed/train/atomic_file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace heed {
namespace {

/// A name that no other writer of `path` has, in any process.
std::filesystem::path temporary_name(const std::filesystem::path& path, int attempt) {
  return path.parent_path() /
         text(".", path.filename().string(), ".", ::getpid(), ".", attempt, ".tmp");
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  int attempt = 0;
  do {
    temporary_ = temporary_name(path_, attempt++);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) fail("create");
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written >= 0)
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      fail("write");
  }
}

void AtomicFile::commit() {
  if (::fsync(file_) != 0) fail("write");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename to");
  ::close(std::exchange(file_, -1));
  // The new name itself lasts only once its folder is on the disk; some file systems cannot sync a
  // folder, and then there is nothing more to be done.
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

void AtomicFile::fail(const char* action) const {
  throw FileError(text("cannot ", action, " ", path_.string(), ": ", std::strerror(errno)));
}

}  // namespace heed
