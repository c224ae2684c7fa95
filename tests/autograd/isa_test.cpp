#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/autograd/isa.h>
#include <heed/autograd/kernels/vector_kernels.h>

#include <cstdlib>

namespace heed {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(InstructionSet, IsTheOneThatTheEnvironmentNames) {
  const char* asked = std::getenv("HEED_ISA");
  if (asked) {
    EXPECT_EQ(name(isa()), asked);
  }
  using namespace kernels;
  EXPECT_EQ(&vector_kernels<float>(), isa() == Isa::base   ? &base_kernels<float>()
                                      : isa() == Isa::avx2 ? &avx2_kernels<float>()
                                                           : &avx512_kernels<float>());
}

TEST(InstructionSet, IsTheBestOneUnlessNamed) {
  EXPECT_EQ(detail::choose_isa(nullptr, Isa::base), Isa::base);
  EXPECT_EQ(detail::choose_isa(nullptr, Isa::avx512), Isa::avx512);
  EXPECT_EQ(detail::choose_isa("", Isa::avx2), Isa::avx2);
  EXPECT_EQ(detail::choose_isa("avx2", Isa::avx512), Isa::avx2);
  EXPECT_EQ(detail::choose_isa("base", Isa::avx2), Isa::base);
}

TEST(InstructionSet, RefusesAnUnknownOneAndOneThatTheCpuLacks) {
  EXPECT_THAT([] { detail::choose_isa("avx", Isa::avx512); },
              ThrowsMessage<ValueError>(HasSubstr("HEED_ISA = avx must be base, avx2 or avx512")));
  EXPECT_THAT([] { detail::choose_isa("avx512", Isa::avx2); },
              ThrowsMessage<ValueError>(HasSubstr("HEED_ISA = avx512: this CPU has at most avx2")));
}

}  // namespace
}  // namespace heed
