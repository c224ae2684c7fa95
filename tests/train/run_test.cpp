// What a run leaves on the disk: checkpoints, metrics, its folder.
#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <set>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Checkpoint, CarriesValuesAndMetadata) {
  const TemporaryFolder folder;
  Rng rng(1), other(2);
  const Linear saved(3, 2, rng), loaded(3, 2, other);
  save_checkpoint(folder / "x", named_parameters(saved), {{"task", "copy"}});
  const Metadata metadata = load_checkpoint(folder / "x", named_parameters(loaded));
  EXPECT_EQ(metadata, (Metadata{{"task", "copy"}, {"heed.linear", "in,out"}}));
  EXPECT_EQ(loaded.weight.to_vector(), saved.weight.to_vector());
  EXPECT_EQ(read_safetensors(folder / "x").tensors[0].value.shape(), (Shape{3, 2}));
}

TEST(Checkpoint, ListsAllThatDoesNotFitAndChangesNothing) {
  const Tensor same = zeros({2}), before = zeros({3}), other = zeros({2});
  const Parameters model{
      {"same", same}, {"reshaped", before}, {"retyped", other}, {"lost", zeros({1})}};
  const Parameters file{{"same", ones({2})},
                        {"reshaped", ones({4})},
                        {"retyped", ones({2}, f64)},
                        {"new.a", ones({1})},
                        {"new.b", ones({1})}};
  const std::string message = message_of<FileError>([&] { copy_parameters(file, model, "x.st"); });
  EXPECT_THAT(message, AllOf(StartsWith("x.st"), HasSubstr("missing: lost"),
                             HasSubstr("unexpected: new.a, new.b"),
                             HasSubstr("reshaped (f32 (4), not f32 (3))"),
                             HasSubstr("retyped (f64 (2), not f32 (2))"), Not(HasSubstr("same")),
                             Not(HasSubstr("\n"))));
  EXPECT_EQ(same.to_vector(), (std::vector<double>{0, 0}));
}

TEST(Metrics, AreOneObjectALine) {
  const TemporaryFolder folder;
  {
    MetricsFile file(folder / "m");
    file.write({{"step", std::int64_t{3}}, {"loss", .1}, {"task", std::string("a\"b\n")}});
    EXPECT_EQ(read_file(folder / "m"), "{\"step\":3,\"loss\":0.1,\"task\":\"a\\\"b\\n\"}\n")
        << "and each is there at once";
  }
  MetricsFile(folder / "m").write({{"loss", std::nan("")}});
  EXPECT_THAT(read_file(folder / "m"), HasSubstr("\n{\"loss\":null}\n"));
}

TEST(Metrics, SayWhereTheyCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of<FileError>([&] { MetricsFile file(folder / "none/m"); }),
              HasSubstr("none/m: No such file"));
  MetricsFile full("/dev/full");
  EXPECT_THAT(message_of<FileError>([&] { full.write({{"loss", 1.}}); }), HasSubstr("/dev/full"));
}

TEST(RunDirectory, IsMadeAnewEachTime) {
  const TemporaryFolder folder;
  std::set<std::string> made;
  for (int i = 0; i < 20; ++i) {
    const RunDirectory run = RunDirectory::create(folder / "runs", "copy");
    EXPECT_TRUE(made.insert(run.path()).second);
    EXPECT_THAT(run.path().filename().string(),
                testing::MatchesRegex("copy-[0-9]{8}-[0-9]{6}-[0-9a-f]{4}"));
    EXPECT_TRUE(std::filesystem::is_directory(run.checkpoints()));
  }
}

TEST(RunDirectory, SaysWhereItCannotBeMade) {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  EXPECT_THAT(message_of<FileError>([&] { RunDirectory::create(folder / "file", "copy"); }),
              HasSubstr("file"));
  EXPECT_THROW(RunDirectory::create("/proc/none", "copy"), FileError);
  EXPECT_EQ(read_file(folder / "file"), "");
}

TEST(RunDirectory, OpensARunOrTheNewestOfAFolder) {
  const TemporaryFolder folder;
  EXPECT_THROW(RunDirectory::open(folder / "none"), FileError);
  EXPECT_THAT(message_of<FileError>([&] { RunDirectory::open(folder.path()); }),
              HasSubstr("config.toml"));
  const RunDirectory first = RunDirectory::create(folder.path(), "a");
  const RunDirectory second = RunDirectory::create(folder.path(), "a");
  for (const RunDirectory* run : {&first, &second}) write_file(run->config(), "");
  using std::filesystem::last_write_time;
  last_write_time(first.config(), last_write_time(second.config()) + std::chrono::seconds(1));
  EXPECT_EQ(RunDirectory::open(second.path()).path(), second.path());
  EXPECT_EQ(RunDirectory::open(folder.path()).path(), first.path());
}

}  // namespace
}  // namespace heed
