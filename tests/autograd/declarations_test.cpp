#include "declarations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "op_table.h"

namespace heed::op_table {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kHeader = R"(
#pragma once
#include <heed/autograd/tensor.h>

/// A comment; with a call(of, something).
namespace heed {

enum class Kind { first, second };
inline constexpr double limit = std::numeric_limits<double>::infinity();

struct Options {
  Mask hidden = {};       ///< not a function(int)
  double scale() const { return 1; }
};

/* Tensor not_this(const Tensor& x); */
Tensor swish(const Tensor& x, double beta = 1);
Tensor operator*(const Tensor& a, double b);
Mask operator<=(const Tensor& a, const Tensor& b);
std::vector<Tensor> cut(const Tensor& x, const std::vector<std::int64_t>& sizes,
                        std::int64_t axis = 0);
Tensor blend(const Tensor& a, const Tensor& b = {}, Options options = {.hidden = Mask()});
void nothing();
inline Tensor twice(const Tensor& x) {
  return blend(x, x);
}

class Scope {
 public:
  explicit Scope(Rng& rng);
  static Rng* rng();
};

Tokens pick(const std::map<int, Tensor>& from, const Shape&);

}  // namespace heed
)";

TEST(Declarations, AreReadWithTheirTypes) {
  EXPECT_THAT(declarations(kHeader),
              ElementsAre("swish(Tensor, double)", "operator*(Tensor, double)",
                          "operator<=(Tensor, Tensor)",
                          "cut(Tensor, std::vector<std::int64_t>, std::int64_t)",
                          "blend(Tensor, Tensor, Options)", "nothing()", "twice(Tensor)",
                          "pick(std::map<int, Tensor>, Shape)"));
}

const std::filesystem::path kOps = std::filesystem::path(HEED_SOURCE_DIR) / "autograd/ops";

TEST(Declarations, EveryPublicOpHasARow) {
  EXPECT_THAT(without_row(declarations_in(kOps)), IsEmpty());
}

TEST(Declarations, AnOpWithoutARowIsFound) {
  EXPECT_THAT(without_row(declarations("namespace heed {\nTensor exp(const Tensor& x);\n"
                                       "Tensor swish(const Tensor& x);\n"
                                       "Tensor exp(const Tensor& x, double base);\n}")),
              ElementsAre("swish(Tensor)", "exp(Tensor, double)"));
}

TEST(Declarations, EveryRowBelongsToAPublicOp) {
  const std::vector<std::string> declared = declarations_in(kOps);
  for (const Row& row : rows()) EXPECT_THAT(declared, Contains(row.declaration));
  for (const Unrowed& excused : unrowed()) EXPECT_THAT(declared, Contains(excused.declaration));
}

TEST(Declarations, FamiliesListTheOpsOfTheirHeadersInOrder) {
  std::size_t headers = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kOps))
    headers += entry.path().extension() == ".h";
  EXPECT_EQ(families().size(), headers);
  for (const Family& family : families()) {
    std::ifstream file(kOps / (family.name + ".h"));
    std::vector<std::string> declared, described;
    for (const std::string& declaration :
         declarations({std::istreambuf_iterator<char>(file), {}})) {
      const auto excuses = [&](const Unrowed& it) { return it.declaration == declaration; };
      std::string op = declaration.substr(0, declaration.find('('));
      if (std::ranges::none_of(unrowed(), excuses) && std::ranges::count(declared, op) == 0)
        declared.push_back(std::move(op));
    }
    for (const About& about : family.ops) described.push_back(about.op);
    EXPECT_EQ(described, declared) << family.name;
  }
}

TEST(Declarations, NoOpHasTwoRows) {
  std::set<std::string> seen;
  for (const Row& row : rows()) EXPECT_TRUE(seen.insert(row.declaration).second) << row;
}

}  // namespace
}  // namespace heed::op_table
