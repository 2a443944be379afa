// Tests the table of reductions: names, dtypes, identities, and kernels that can be verified.
#include "ops/reductions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ir/verify.h"

namespace arraycore::ops {
namespace {

const UFunc& ufunc(std::string_view name) {
  return table()[static_cast<std::size_t>(find(name).value())];
}

DType dtype_of(std::string_view name, DType array, std::optional<DType> out = {},
               std::optional<DType> dtype = {}) {
  const auto found = fold_dtype(ufunc(name), array, out, dtype);
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : DType::boolean;
}

TEST(Reductions, HaveEachANameAndAUFuncOfTheTable) {
  std::set<std::string_view> names;
  for (const Reduction& row : reductions()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    const bool combines = row.form == Form::fold || row.form == Form::place;
    EXPECT_EQ(combines, !row.ufunc.empty()) << row.name;
    if (row.form == Form::fold) {
      EXPECT_TRUE(reducible(ufunc(row.ufunc)).by_tree) << row.name;
    }
    EXPECT_EQ(*find_reduction(row.name), static_cast<ReductionId>(&row - &reductions()[0]));
  }
  EXPECT_FALSE(find_reduction("median"));
}

TEST(Reductions, AreComputedInNumPysDtypes) {
  EXPECT_EQ(dtype_of("add", DType::boolean), DType::int64);
  EXPECT_EQ(dtype_of("multiply", DType::uint8), DType::uint64);
  EXPECT_EQ(dtype_of("add", DType::float16), DType::float16);
  EXPECT_EQ(dtype_of("add", DType::int8, DType::int8), DType::int8);
  EXPECT_EQ(dtype_of("add", DType::int8, DType::float32), DType::float32);
  EXPECT_EQ(dtype_of("add", DType::float32, {}, DType::int32), DType::int32);
  EXPECT_EQ(dtype_of("maximum", DType::int8), DType::int8);
  EXPECT_EQ(dtype_of("logical_or", DType::float32), DType::boolean);
  EXPECT_EQ(dtype_of("divide", DType::int8), DType::float64);
  EXPECT_EQ(dtype_of("less", DType::boolean), DType::boolean);
  for (const auto& [name, array] : {std::pair("less", DType::float32),
                                    {"equal", DType::int8},
                                    {"subtract", DType::boolean},
                                    {"ldexp", DType::float32}}) {
    const auto refused = fold_dtype(ufunc(name), array, {}, {});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, "no_loop");
  }
  EXPECT_FALSE(fold_dtype(ufunc("logical_and"), DType::int32, {}, DType::float32));
}

TEST(Reductions, BeginWithNumPysIdentities) {
  EXPECT_EQ(identity_of(ufunc("multiply"), DType::int32)->bits, 1u);
  EXPECT_EQ(identity_of(ufunc("bitwise_and"), DType::uint8)->bits, 0xffu);
  EXPECT_EQ(identity_of(ufunc("bitwise_and"), DType::boolean)->bits, 1u);
  EXPECT_EQ(identity_of(ufunc("logaddexp"), DType::float32)->bits, 0xff800000u);
  EXPECT_FALSE(identity_of(ufunc("maximum"), DType::float32));
  EXPECT_FALSE(identity_of(ufunc("subtract"), DType::float32));
}

TEST(Reductions, MakeKernelsThatAreOnes) {
  int made = 0;
  for (const Reduction& row : reductions())
    for (std::size_t d = 0; d < kDTypes; ++d)
      for (const bool where : {false, true}) {
        ReductionSpec spec{.form = row.form, .skips_nan = row.skips_nan, .root = row.root};
        spec.array = spec.loop = spec.out = static_cast<DType>(d);
        spec.where = where;
        spec.initial = row.form == Form::fold;
        if (!row.ufunc.empty()) spec.ufunc = &ufunc(row.ufunc);
        const bool floats = is_floating(spec.loop) || is_complex(spec.loop);
        if (row.form == Form::variance && !floats) continue;
        if (row.form == Form::range && spec.loop == DType::boolean) continue;
        const Status good = ir::verify(make_reduction_kernel(spec));
        EXPECT_TRUE(good) << row.name << " " << name_of(spec.loop) << ": " << good.error().message;
        if (row.form == Form::fold && !where) {
          spec.initial = false;
          EXPECT_TRUE(ir::verify(make_scan_kernel(spec))) << row.name;
          EXPECT_TRUE(ir::verify(make_ordered_kernel(spec, true))) << row.name;
          EXPECT_TRUE(ir::verify(make_ordered_kernel(spec, false))) << row.name;
          spec.carried = true;
          EXPECT_TRUE(ir::verify(make_ordered_kernel(spec, true))) << row.name;
          EXPECT_TRUE(ir::verify(make_ordered_kernel(spec, false))) << row.name;
        }
        ++made;
      }
  EXPECT_GT(made, 400);
}

TEST(Growth, IsATreesForSumsAndEachStepsForProducts) {
  const auto growth = [](std::string_view name) {
    return reductions()[static_cast<std::size_t>(*find_reduction(name))].growth;
  };
  EXPECT_EQ(growth("max").ulp(1000, false), 0);
  EXPECT_EQ(growth("sum").ulp(1024, false), 12);
  EXPECT_EQ(growth("prod").ulp(100, false), 102);
  EXPECT_GT(growth("prod").ulp(100, true), 700);
}

}  // namespace
}  // namespace arraycore::ops
