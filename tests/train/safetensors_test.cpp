#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "support.h"

namespace heed {
namespace {

using testing::HasSubstr;

/// A file with this header and so many bytes of data.
std::string file_with(std::string_view header, std::size_t data = 0) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes.append(header).append(data, '\0');
}

SafeTensors parse(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_safetensors(in, bytes.size(), "x.safetensors");
}

std::string refusal(const std::string& bytes) {
  return message_of<FileError>([&] { parse(bytes); });
}

/// The header of one tensor.
std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return text(R"({"w":{"dtype":")", dtype, R"(","shape":)", shape, R"(,"data_offsets":)", offsets,
              "}}");
}

TEST(Safetensors, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  const Tensor a = tensor({1, -2.5, 3, 4, 5, infinity}, {2, 3});
  const Tensor b = tensor({1e-300, 0.1}, {2, 1}, f64), scalar = tensor({7}, {}),
               nothing = zeros({0, 3});
  write_safetensors(folder / "x", {{"a", a}, {"b", b}, {"scalar", scalar}, {"nothing", nothing}},
                    {{"k", "grün"}, {"quote", "\"\n"}});

  const SafeTensors file = read_safetensors(folder / "x");
  EXPECT_EQ(file.metadata, (Metadata{{"k", "grün"}, {"quote", "\"\n"}}));
  ASSERT_EQ(file.tensors.size(), 4u);
  for (const NamedTensor& read : file.tensors) {
    const Tensor& right = read.name == "a"        ? a
                          : read.name == "b"      ? b
                          : read.name == "scalar" ? scalar
                                                  : nothing;
    EXPECT_EQ(read.value.shape(), right.shape());
    EXPECT_EQ(read.value.dtype(), right.dtype());
    EXPECT_EQ(read.value.to_vector(), right.to_vector());
  }
}

TEST(Safetensors, WritesTheFormatToTheByte) {
  const TemporaryFolder folder;
  write_safetensors(folder / "x", {{"w", tensor({1, 2}, {2})}}, {{"heed.linear", "in,out"}});
  std::string header =
      R"({"__metadata__":{"heed.linear":"in,out"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string right = file_with(header, 8);
  const float values[] = {1, 2};
  std::memcpy(right.data() + right.size() - 8, values, 8);
  EXPECT_EQ(read_file(folder / "x"), right);
}

TEST(Safetensors, KeepsDoublesAligned) {
  const TemporaryFolder folder;
  write_safetensors(folder / "x",
                    {{"single", tensor({1}, {1})}, {"double", tensor({2}, {1}, f64)}});
  const SafeTensors file = read_safetensors(folder / "x");
  EXPECT_EQ(file.tensors[0].name, "double");
  EXPECT_EQ(file.tensors[1].value.item(), 1);
}

TEST(Safetensors, TakesTensorsInAnyOrderOfTheHeader) {
  const std::string header = R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                             R"("a":{"data_offsets":[0,4],"shape":[1],"dtype":"F32"}})";
  std::string bytes = file_with(header, 8);
  const float values[] = {1, 2};
  std::memcpy(bytes.data() + bytes.size() - 8, values, 8);
  const SafeTensors file = parse(bytes);
  EXPECT_EQ(file.tensors[0].name, "a");
  EXPECT_EQ(file.tensors[0].value.item(), 1);
  EXPECT_EQ(file.tensors[1].value.item(), 2);
}

TEST(Safetensors, RefusesTensorsThatAreNotWhatTheySay) {
  EXPECT_THAT(refusal(file_with(one("BF16", "[2]", "[0,4]"), 4)), HasSubstr("\"BF16\""));
  EXPECT_THAT(refusal(file_with(one("F32", "[2]", "[0,4]"), 4)), HasSubstr("(2) takes 8"));
  EXPECT_THAT(refusal(file_with(one("F64", "[]", "[0,4]"), 4)), HasSubstr("() takes 8"));
  EXPECT_THAT(refusal(file_with(one("F32", "[1]", "[4,0]"), 4)), HasSubstr("begin and an end"));
  EXPECT_THAT(refusal(file_with(one("F32", "[1]", "[0]"), 4)), HasSubstr("begin and an end"));
  EXPECT_THAT(refusal(file_with(one("F32", "[1]", "[0,4,8]"), 4)), HasSubstr("begin and an end"));
  EXPECT_THAT(refusal(file_with(one("F32", "[1]", "[4,8]"), 8)), HasSubstr("begins at byte 4"));
  EXPECT_THAT(refusal(file_with(one("F32", "[1]", "[0,4]"), 8)), HasSubstr("holds 8"));
  EXPECT_THAT(refusal(file_with(one("F32", "[2]", "[0,8]"), 4)), HasSubstr("cut off"));
  EXPECT_THAT(refusal(file_with(one("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4)),
              HasSubstr("a shape of more than 8 numbers"));
  EXPECT_THAT(refusal(file_with(one("F32", "[9223372036854775807,4]", "[0,4]"), 4)),
              HasSubstr("more elements"));
  EXPECT_THAT(refusal(file_with(one("F32", "[4611686018427387904]", "[0,0]"))),
              HasSubstr("more elements"));
}

TEST(Safetensors, RefusesHeadersThatAreNotWhatTheFormatAsksFor) {
  EXPECT_THAT(refusal(file_with(" {}")), HasSubstr("does not begin with {"));
  EXPECT_THAT(refusal(file_with("[]")), HasSubstr("does not begin with {"));
  EXPECT_THAT(refusal(file_with("{} {}")), HasSubstr("not JSON"));
  EXPECT_THAT(refusal(file_with(R"({"w":1})")), HasSubstr("a number out of place, at \"w\""));
  EXPECT_THAT(refusal(file_with(R"({"w":[]})")), HasSubstr("a list"));
  EXPECT_THAT(refusal(file_with(R"({"w":null})")), HasSubstr("a null"));
  EXPECT_THAT(refusal(file_with(R"({"w":{}})")), HasSubstr("\"w\" lacks"));
  EXPECT_THAT(refusal(file_with(one("F32", "[true]", "[0,4]"), 4)), HasSubstr("a boolean"));
  EXPECT_THAT(refusal(file_with(one("F32", "[-1]", "[0,4]"), 4)), HasSubstr("a negative"));
  EXPECT_THAT(refusal(file_with(one("F32", "[1.0]", "[0,4]"), 4)), HasSubstr("a fraction"));
  EXPECT_THAT(refusal(file_with(one("F32", "[[1]]", "[0,4]"), 4)), HasSubstr("a list"));
  EXPECT_THAT(refusal(file_with(one("F32", "{}", "[0,4]"), 4)), HasSubstr("an object"));
  EXPECT_THAT(refusal(file_with(R"({"__metadata__":{"k":1}})")), HasSubstr("a number"));
  EXPECT_THAT(refusal(file_with(R"({"__metadata__":{"k":"1","k":"2"}})")), HasSubstr("twice"));
  const std::string entry = R"("w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_THAT(refusal(file_with("{" + entry + "," + entry + "}", 4)), HasSubstr("\"w\" twice"));
}

TEST(Safetensors, RefusesADeepHeaderWithoutFollowingIt) {
  const std::string deep = R"({"w":{"shape":)" + std::string(10'000'000, '[');
  EXPECT_THAT(refusal(file_with(deep)), HasSubstr("a list out of place"));
}

TEST(Safetensors, KeepsItsMessagesOnOneLine) {
  const std::string message = refusal(file_with(
      "{\"a\\n\\u001b[31m\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8));
  EXPECT_THAT(message, HasSubstr(R"(a\n\u001b[31m)"));
  EXPECT_EQ(message.find_first_of("\n\x1b"), std::string::npos);
}

TEST(Safetensors, SaysWhyAFileCannotBeRead) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of<FileError>([&] { read_safetensors(folder / "none"); }),
              HasSubstr("No such file"));
  EXPECT_THROW(read_safetensors(folder.path()), FileError);
}

TEST(Safetensors, RefusesNamesItCannotWrite) {
  const TemporaryFolder folder;
  const Tensor x = zeros({1});
  EXPECT_THROW(write_safetensors(folder / "x", {{"a", x}, {"a", x}}), ValueError);
  EXPECT_THROW(write_safetensors(folder / "x", {{"__metadata__", x}}), ValueError);
  EXPECT_THROW(write_safetensors(folder / "x", {{"\xff", x}}), ValueError);
  EXPECT_THROW(write_safetensors(folder / "x", {}, {{"k", "\xff"}}), ValueError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Safetensors, IsWrittenWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "x";
  write_safetensors(path, {{"a", full({1}, 1)}});
  {
    // A limit on the size of files stands for a full disk.
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{4096, before.rlim_max};
    const auto old = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string message = message_of<FileError>([&] {
      write_safetensors(path, {{"a", zeros({100'000})}});
    });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, old);
    EXPECT_THAT(message, HasSubstr("cannot write"));
  }
  EXPECT_EQ(read_safetensors(path).tensors[0].value.item(), 1);
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "nothing is left over";
}

TEST(Safetensors, SaysWhereItCannotWrite) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of<FileError>([&] { write_safetensors(folder / "none/x", {}); }),
              HasSubstr("No such file"));
  std::filesystem::create_directory(folder / "taken");
  EXPECT_THROW(write_safetensors(folder / "taken", {}), FileError);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "taken"));
}

}  // namespace
}  // namespace heed
