// Every layer against central differences to second order, as a function of its inputs and of all
// its parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/tests/layers/layer_table.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

namespace heed::layer_table {

void PrintTo(const Row& row, std::ostream* out) { *out << row.layer; }

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

class LayerGradients : public testing::TestWithParam<Row> {};

TEST_P(LayerGradients, AreRightToSecondOrder) {
  for (const Variant& variant : GetParam().variants)
    EXPECT_TRUE(variant.check({.order = 2})) << variant.label;
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerGradients, testing::ValuesIn(rows()),
                         [](const auto& row) { return row.param.layer; });

std::vector<std::string> public_layers() {
  std::vector<std::string> result;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(HEED_SOURCE_DIR) / "layers")) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    for (std::string& layer : layers_in({std::istreambuf_iterator<char>(file), {}}))
      result.push_back(std::move(layer));
  }
  return result;
}

TEST(LayerTable, HasARowForEveryPublicLayer) {
  EXPECT_THAT(without_row(public_layers()), IsEmpty());
}

TEST(LayerTable, HasNoRowForAnythingElse) {
  for (const Row& row : rows()) EXPECT_THAT(public_layers(), Contains(row.layer));
}

TEST(LayerTable, ALayerWithoutARowIsFound) {
  const std::string header = R"(
namespace heed {

/// struct NotThis { operator()(x); visit(Visitor&) };
struct Options {
  bool bias = true;
};

struct Gate {
  Tensor weight;

  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

struct LayerNorm {
  Tensor operator()(const Tensor& x) const { return x; }
  void visit(Visitor&) {}
};

class Walker : public Visitor {
  void operator()(const Tensor& x);
};

}  // namespace heed
)";
  EXPECT_THAT(layers_in(header), ElementsAre("Gate", "LayerNorm"));
  EXPECT_THAT(without_row(layers_in(header)), ElementsAre("Gate"));
}

}  // namespace
}  // namespace heed::layer_table
