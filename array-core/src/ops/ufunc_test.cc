#include "ops/ufunc.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "ir/verify.h"

namespace arraycore::ops {
namespace {

const UFunc& named(std::string_view name) {
  return table()[static_cast<std::size_t>(find(name).value())];
}

KernelSpec plain(const UFunc& ufunc, const Loop& loop) {
  KernelSpec spec{
      .ufunc = &ufunc, .loop = loop, .operands = loop.operands, .scalar = {}, .out = {}};
  spec.out = loop.results;
  return spec;
}

TEST(UFuncTable, NamesAreOwnAndFound) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < table().size(); ++i) {
    EXPECT_TRUE(names.insert(table()[i].name).second) << table()[i].name;
    EXPECT_EQ(find(table()[i].name), static_cast<UFuncId>(i));
  }
  EXPECT_FALSE(find("no_such_function"));
}

TEST(UFuncTable, EveryLoopMakesAVerifiedKernel) {
  int kernels = 0;
  for (const UFunc& ufunc : table()) {
    for (const Loop& loop : loops_of(ufunc)) {
      const ir::Kernel kernel = make_kernel(plain(ufunc, loop));
      const Status status = ir::verify(kernel);
      EXPECT_TRUE(status) << ufunc.name << " of " << name_of(loop.operands[0]) << ": "
                          << status.error().message;
      EXPECT_EQ(kernel.params.size(), static_cast<std::size_t>(ufunc.operands + ufunc.results));
      ++kernels;
    }
  }
  EXPECT_GT(kernels, 600);
}

TEST(UFuncResolve, TakesTheFirstLoopThatCastsSafely) {
  const auto arrays = [](DType a, DType b) {
    return std::array{Operand{a, false, {}}, Operand{b, false, {}}};
  };
  const auto add =
      resolve(named("add"), PromotionMode::numpy2, arrays(DType::int16, DType::uint16));
  ASSERT_TRUE(add);
  EXPECT_EQ(add->results[0], DType::int32);
  const auto divide =
      resolve(named("divide"), PromotionMode::numpy2, arrays(DType::int8, DType::int8));
  ASSERT_TRUE(divide);
  EXPECT_EQ(divide->results[0], DType::float64);
  const auto compare =
      resolve(named("less"), PromotionMode::numpy2, arrays(DType::int64, DType::uint64));
  ASSERT_TRUE(compare);
  EXPECT_EQ(compare->operands[1], DType::uint64);
}

TEST(UFuncResolve, ScalarsAreWeakAsTheModeSays) {
  const std::array weak{Operand{DType::float32, false, {}},
                        Operand{DType::float64, true, PythonScalar::floating}};
  EXPECT_EQ(resolve(named("multiply"), PromotionMode::numpy2, weak)->results[0], DType::float32);
  const std::array numpy{Operand{DType::float32, false, {}}, Operand{DType::float64, true, {}}};
  EXPECT_EQ(resolve(named("multiply"), PromotionMode::numpy2, numpy)->results[0], DType::float64);
  EXPECT_EQ(resolve(named("multiply"), PromotionMode::cupy, numpy)->results[0], DType::float32);
  const std::array mixed{Operand{DType::int64, false, {}}, Operand{DType::float32, false, {}}};
  EXPECT_EQ(resolve(named("multiply"), PromotionMode::cupy, mixed)->results[0], DType::float32);
  EXPECT_EQ(resolve(named("multiply"), PromotionMode::numpy2, mixed)->results[0], DType::float64);
}

TEST(UFuncResolve, NamesWhatNoLoopTakes) {
  const std::array bools{Operand{DType::boolean, false, {}}, Operand{DType::complex64, false, {}}};
  const auto loop = resolve(named("bitwise_and"), PromotionMode::numpy2, bools);
  ASSERT_FALSE(loop);
  EXPECT_EQ(loop.error().kind, ErrorKind::type);
  EXPECT_EQ(loop.error().code, "no_loop");
  EXPECT_NE(loop.error().message.find("bitwise_and"), std::string::npos);
  EXPECT_NE(loop.error().message.find("complex64"), std::string::npos);
}

}  // namespace
}  // namespace arraycore::ops
