#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace heed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The name of a file that goes with it.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_(std::filesystem::temp_directory_path() / text("heed-case-", ::getpid())) {}
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }
  operator std::filesystem::path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes.append(rest);
}

std::string with_header(std::string_view header, std::size_t data) {
  return with_length(header.size(), std::string(header).append(data, '\0'));
}

SafeTensors parse(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_safetensors(in, bytes.size(), "x");
}

long peak_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Cases, K01MalformedFilesAreRefusedWithAMessageEach) {
  const std::string entry = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::vector<std::pair<std::string, std::string>> files{
      {"", "has 0 bytes"},
      {with_length(8, "").substr(0, 8), "its header has 8 bytes, but only 0 follow"},
      {with_length(0xffffffff0000003c, entry), "18446744069414584380 bytes"},
      {with_length(std::uint64_t{1} << 63, entry), "9223372036854775808 bytes"},
      {with_header("{\"\xff\xfe\":{}}", 0), "not JSON in UTF-8: error at byte 3"},
      {with_header("{", 0), "not JSON in UTF-8: error at byte 2"},
      {with_header(entry, 4), "take 8 bytes of data, but it holds 4: it is cut off"},
      {with_header(entry, 12), "take 8 bytes of data, but it holds 12"},
      {with_header(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8),
       "has 8 bytes of data, but f32 of shape (3) takes 12"},
      {with_header(R"({"w":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})", 8),
       "has 8 bytes of data, but f64 of shape (2) takes 16"}};
  const long before = peak_kilobytes();
  for (const auto& [bytes, reason] : files) {
    try {
      parse(bytes);
      ADD_FAILURE() << "taken: " << reason;
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(reason), Not(HasSubstr("\n"))));
    }
  }
  EXPECT_LT(peak_kilobytes() - before, 64 * 1024);
}

/// Two layers that are one: a copy shares its parameters.
struct Twins {
  Linear first, second;

  explicit Twins(Rng& rng) : first(3, 2, rng), second(first) {}
  void visit(Visitor& v) {
    v("first", first);
    v("second", second);
  }
};

TEST(Cases, K03TiedParametersAreStoredOnceAndSharedAfterLoading) {
  const TemporaryFile path;
  Rng rng(1), other(2);
  const Twins saved(rng), loaded(other);
  ASSERT_EQ(named_parameters(saved).size(), 4u);
  save_checkpoint(path, named_parameters(saved));
  const Parameters stored = read_safetensors(path).tensors;
  ASSERT_EQ(stored.size(), 2u);
  EXPECT_EQ(stored[0].name, "first.weight");

  load_checkpoint(path, named_parameters(loaded));
  EXPECT_EQ(loaded.second.weight.to_vector(), saved.first.weight.to_vector());
  EXPECT_EQ(loaded.second.weight.storage(), loaded.first.weight.storage());

  Sgd optimizer(parameters(loaded), {.lr = .1});
  backward(sum(loaded.second(ones({1, 3}))));
  optimizer.step();
  EXPECT_EQ(loaded.first.weight.to_vector(), loaded.second.weight.to_vector());
  EXPECT_NE(loaded.first.weight.to_vector(), saved.first.weight.to_vector());
}

TEST(Cases, K04AKilledWriterLeavesTheFileBeforeOrAfter) {
  const TemporaryFile path;
  const auto save = [&](double value) {
    save_checkpoint(path, {{"w", full({50'000}, value)}}, {{"value", std::to_string(value)}});
  };
  save(0);
  Rng rng(1);
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      for (double value = 1;; ++value) save(value);
    ::usleep(static_cast<useconds_t>(rng.integer(20'000)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const SafeTensors file = read_safetensors(path);
    for (double value : file.tensors.at(0).value.to_vector())
      ASSERT_EQ(std::to_string(value), file.metadata.at("value"));
  }
  for (const auto& entry : std::filesystem::directory_iterator(path.path().parent_path()))
    if (entry.path().filename().string().starts_with("." + path.path().filename().string()))
      std::filesystem::remove(entry.path());  // what the killed ones were writing
}

TEST(Cases, K07EveryTruncationIsAnError) {
  const TemporaryFile path;
  Rng rng(1);
  const Linear layer(3, 2, rng);
  save_checkpoint(path, named_parameters(layer), {{"task", "copy"}});
  std::ostringstream all;
  all << std::ifstream(path.path(), std::ios::binary).rdbuf();
  const std::string whole = all.str();
  ASSERT_NO_THROW(parse(whole));
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_THROW(parse(whole.substr(0, n)), FileError) << n << " bytes of " << whole.size();
}

}  // namespace
}  // namespace heed
