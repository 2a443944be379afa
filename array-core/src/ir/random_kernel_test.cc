#include "ir/random_kernel.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/verify.h"

namespace arraycore::ir {
namespace {

TEST(RandomKernel, VerifiesAndRuns) {
  std::size_t reductions = 0;
  std::size_t scans = 0;
  std::size_t joint = 0;
  std::size_t statements = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    RandomCase one = random_case(seed, seed % 2 == 0 ? Subset::all : Subset::gpu);
    const Status verified = verify(one.kernel);
    ASSERT_TRUE(verified.ok()) << seed << ": " << verified.error().message << print(one.kernel);
    const Status run = interpret(one.kernel, one.launch());
    ASSERT_TRUE(run.ok()) << seed << ": " << run.error().message;
    reductions += one.kernel.reduction ? 1 : 0;
    scans += one.kernel.reduction && one.kernel.reduction->running() ? 1 : 0;
    joint += one.kernel.reduction && one.kernel.reduction->values.size() > 1 ? 1 : 0;
    statements += one.kernel.stmts.size();
  }
  EXPECT_GT(reductions, 300u);
  EXPECT_GT(scans, 100u);
  EXPECT_GT(joint, 150u);
  EXPECT_GT(statements, 10000u);
}

TEST(RandomKernel, IsMadeBySeed) {
  EXPECT_EQ(print(random_case(7, Subset::all).kernel), print(random_case(7, Subset::all).kernel));
  EXPECT_NE(print(random_case(7, Subset::all).kernel), print(random_case(8, Subset::all).kernel));
}

}  // namespace
}  // namespace arraycore::ir
