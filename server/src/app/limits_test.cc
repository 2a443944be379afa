// Tests how many connections the limit of open files allows.
#include <gtest/gtest.h>

#include "app/machine/descriptors.h"

namespace hyperflock::app {
namespace {

TEST(Descriptors, BudgetsThatFitStay) {
  const ConnectionBudgets wanted{12'000, 1'000};
  EXPECT_EQ(fit_budgets(1'048'576, wanted).value(), wanted);
  EXPECT_EQ(fit_budgets(12'000 + 1'000 + 128 + 1'024, wanted).value(), wanted);
}

TEST(Descriptors, UnderALowLimitBothOriginsKeepAPart) {
  for (const std::uint64_t limit : {256U, 1'024U, 4'096U, 12'000U}) {
    const auto budgets = fit_budgets(limit, {12'000, 1'000});
    ASSERT_TRUE(budgets) << limit;
    EXPECT_GE(budgets->console, 8U);
    EXPECT_GT(budgets->compute, budgets->console);
    EXPECT_LT(budgets->compute + budgets->console + 64, limit);
  }
}

TEST(Descriptors, AServerThatCouldNotWorkDoesNotStart) {
  for (const std::uint64_t limit : {0U, 10U, 64U, 100U})
    EXPECT_EQ(fit_budgets(limit, {12'000, 1'000}).error().code, "few_descriptors") << limit;
  EXPECT_TRUE(fit_budgets(256, {1, 1}));
}

TEST(Descriptors, TheLimitIsRaisedAsFarAsAllowed) {
  const std::uint64_t limit = raise_descriptor_limit();
  EXPECT_GT(limit, 0U);
  EXPECT_EQ(raise_descriptor_limit(), limit);
}

}  // namespace
}  // namespace hyperflock::app
