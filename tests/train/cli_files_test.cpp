// The program from outside: trained models on other files, and files of an example.
#include <gmock/gmock.h>

#include <filesystem>

#include "cli_support.h"
#include "process.h"
#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string repeated(const std::string& line, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += line;
  return all;
}

/// Writes into a file what is as long as what stood there.
void replace(const std::filesystem::path& path, const std::string& what, const std::string& with) {
  std::string bytes = read_file(path);
  const std::size_t at = bytes.find(what);
  ASSERT_NE(at, std::string::npos) << what;
  ASSERT_EQ(what.size(), with.size());
  write_file(path, bytes.replace(at, what.size(), with));
}

/// A folder with a run in `runs`, of a moment on poem.txt.
struct Trained {
  TemporaryFolder folder;
  Start start{.folder = folder.path()};

  explicit Trained(const std::vector<std::string>& more = {}) {
    write_file(folder / "poem.txt", repeated("the cat sat on the mat\n", 40));
    std::vector<std::string> words{"train",   "text",    "poem.txt",  "--context", "8",
                                   "--steps", "3",       "--d-model", "8",         "--batch",
                                   "2",       "--heads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome found = run_heed(words, start);
    EXPECT_EQ(found.code, 0) << found.err;
  }
  Outcome eval(std::vector<std::string> more) const {
    more.insert(more.begin(), {"eval", "runs"});
    return run_heed(more, start);
  }
};

// ---- heed eval RUN --file OTHER

TEST(EvalOfAFile, IsOfAllOfItInTheVocabularyOfTheModel) {
  for (const char* kind : {"characters", "bytes", "bpe"}) {
    const Trained t({"--tokenizer", kind});
    // Of its characters the model knows more than these; of byte pairs it has learnt others.
    write_file(t.folder / "other.txt", repeated("the hat ate a mat\n", 10));
    const Outcome found = t.eval({"--file", "other.txt", "--json"});
    ASSERT_EQ(found.code, 0) << kind << found.err;
    const auto result = last_json(found.out);
    EXPECT_EQ(result["file"], "other.txt");
    EXPECT_EQ(result["whole_file"], true);
    const bool by_character = kind != std::string("bpe");
    EXPECT_EQ(result["rows"] == (10 * 18 - 2) / 8 + 1, by_character) << kind << result;
    EXPECT_THAT(t.eval({"--file", "other.txt"}).out, HasSubstr("unseen rows of all of other.txt:"));
  }
}

TEST(EvalOfAFile, OfTheTrainingIsOfWhatItHeldOut) {
  const Trained t;
  const std::string own = (t.folder / "poem.txt").string();
  for (const Outcome& found : {t.eval({"--json"}), t.eval({"--file", "./poem.txt", "--json"})}) {
    const auto result = last_json(found.out);
    EXPECT_EQ(result["file"], own);
    EXPECT_EQ(result["whole_file"], false);
    EXPECT_EQ(result["rows"], (4 * 23 - 2) / 8 + 1);
  }
  EXPECT_THAT(t.eval({}).out, HasSubstr("12 unseen rows of what is held out of " + own));
}

TEST(EvalOfAFile, OfTheTrainingIsKnownByItsContent) {
  const Trained t;
  std::filesystem::copy_file(t.folder / "poem.txt", t.folder / "copy.txt");
  const auto held_out = [&](const std::string& file) {
    const auto result = last_json(t.eval({"--file", file, "--json"}).out);
    EXPECT_EQ(result["whole_file"], false) << file;
    EXPECT_EQ(result["known_unseen"], true) << file;
    EXPECT_EQ(result["rows"], (4 * 23 - 2) / 8 + 1) << file;
    EXPECT_THAT(t.eval({"--file", file}).out,
                HasSubstr("12 unseen rows of what is held out of " + file));
  };
  held_out("copy.txt");
  std::filesystem::rename(t.folder / "poem.txt", t.folder / "moved.txt");
  held_out("moved.txt");

  write_file(t.folder / "poem.txt", repeated("the cat sat on the mat\n", 41));
  const Outcome changed = t.eval({});
  EXPECT_THAT(changed.err, HasSubstr("poem.txt has changed since the training; it is not known"));
  EXPECT_THAT(changed.out, AllOf(HasSubstr("rows of all of "), Not(HasSubstr("unseen"))));
  EXPECT_EQ(last_json(t.eval({"--json"}).out)["known_unseen"], false);
}

TEST(EvalOfAFile, OfARunWithoutAFingerprintIsComparedWithTheFile) {
  const Trained t;
  const std::filesystem::path checkpoint =
      only_run(t.folder / "runs") / "checkpoints/last.safetensors";
  replace(checkpoint, "\"heed.file\"", "\"heed.past\"");
  std::filesystem::copy_file(t.folder / "poem.txt", t.folder / "copy.txt");
  write_file(t.folder / "other.txt", repeated("the hat ate a mat\n", 10));
  EXPECT_THAT(t.eval({}).out, HasSubstr("12 unseen rows of what is held out of "));
  EXPECT_THAT(t.eval({"--file", "copy.txt"}).out, HasSubstr("12 unseen rows of what is held out"));
  EXPECT_THAT(t.eval({"--file", "other.txt"}).out, HasSubstr("unseen rows of all of other.txt"));
  std::filesystem::remove(t.folder / "poem.txt");
  const Outcome found = t.eval({"--file", "copy.txt"});
  EXPECT_THAT(found.err, HasSubstr("it is not known whether copy.txt was trained on"));
  EXPECT_THAT(found.out, AllOf(HasSubstr("rows of all of copy.txt"), Not(HasSubstr("unseen"))));
  const auto result = last_json(t.eval({"--file", "copy.txt", "--json"}).out);
  EXPECT_EQ(result["whole_file"], true);
  EXPECT_EQ(result["known_unseen"], false);
}

TEST(EvalOfAFile, SaysWhichCharacterIsUnknown) {
  const Trained t;
  write_file(t.folder / "bad.txt", repeated("the hat\n", 10) + "the Zoo\n");
  write_file(t.folder / "short.txt", "the hat");
  const auto refused = [&](const std::string& file, const std::string& reason) {
    const Outcome found = t.eval({"--file", file});
    EXPECT_EQ(found.code, 3);
    EXPECT_THAT(lines_of(found.err), ElementsAre(AllOf(HasSubstr(reason), Not(HasSubstr("--")))));
  };
  refused("bad.txt", "bad.txt, line 11: 'Z' (U+005A) at position 4 (the first is 0) is not in");
  refused("short.txt", "short.txt has 7 tokens; with context 8 it needs more than 8");
  refused("none.txt", "none.txt: cannot be read");
}

/// A run of one step on swap.tsv.
void train_on_swaps(const Start& start) {
  write_file(start.folder / "swap.tsv", "ab\tba\nba\tab\nbb\tbb\n");
  const Outcome trained = run_heed({"train", "rows", "swap.tsv", "--context", "6", "--steps", "1",
                                    "--d-model", "8", "--heads", "1"},
                                   start);
  ASSERT_EQ(trained.code, 0) << trained.err;
}

TEST(EvalOfAFile, OfRowsHasNoRowsToTrainOn) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  train_on_swaps(start);
  write_file(folder / "one.tsv", "aa\tbb\n");
  write_file(folder / "long.tsv", "aabb\tbbaa\n");
  write_file(folder / "new.tsv", "ab\tba\nac\tca\n");
  const auto eval = [&](const std::string& file) {
    return run_heed({"eval", "runs", "--file", file}, start);
  };
  EXPECT_THAT(eval("swap.tsv").out, HasSubstr("1 unseen row of what is held out of "));
  EXPECT_THAT(eval("one.tsv").out, HasSubstr("1 unseen row of all of one.tsv: loss"));
  EXPECT_THAT(eval("long.tsv").err, AllOf(HasSubstr("line 1: the row has 10 tokens"),
                                          HasSubstr("it may have 7"), Not(HasSubstr("--context"))));
  EXPECT_THAT(eval("new.tsv").err, HasSubstr("new.tsv, line 2: 'c' (U+0063) at position 1"));
}

TEST(EvalOfAFile, OfRowsOfOldMayHaveNoShareToHoldOut) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  train_on_swaps(start);
  replace(only_run(folder / "runs") / "checkpoints/last.safetensors", "held-out = 0.1",
          "held-out = 0.0");
  const Outcome found = run_heed({"eval", "runs"}, start);
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("1 unseen row of what is held out of "));
}

// ---- heed tasks

TEST(TasksCommand, ShowsRowsOfAnExampleFile) {
  for (const char* task : {"text", "rows"}) {
    const Outcome found = run_heed({"tasks", task});
    EXPECT_EQ(found.code, 0) << found.err;
    std::size_t rows = 0;
    for (const std::string& line : lines_of(found.out)) rows += line.starts_with("  inputs   ");
    EXPECT_GE(rows, 3u) << task;
    EXPECT_THAT(found.out, AllOf(HasSubstr(", at --context 24:"), HasSubstr("Losses to compare"),
                                 HasSubstr("unigram "), HasSubstr("which cells are right"),
                                 Not(HasSubstr("\t"))));
  }
  EXPECT_THAT(run_heed({"tasks", "text"}).out, HasSubstr("Rows of the text above"));
  EXPECT_THAT(run_heed({"tasks", "rows"}).out, HasSubstr("a file that holds mouse\\tmice\\n"));
}

}  // namespace
}  // namespace heed
