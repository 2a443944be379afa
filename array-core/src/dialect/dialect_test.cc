// Tests what kernels compute: the statements and expressions of the subset, and the typing rule.
#include <cmath>
#include <complex>
#include <limits>

#include "dialect/test_support.h"

namespace arraycore::dialect {
namespace {

bool prints(const Result<ir::Kernel>& kernel, const std::string& part) {
  return kernel.ok() && ir::print(*kernel).find(part) != std::string::npos;
}

TEST(Typing, UnsuffixedLiteralsTakeTheWidestFloatingParameter) {
  const Texts texts{"T x", "T y", "y = x * 0.1 + ceil(3)"};
  const auto narrow = compiled(texts, {kF32, kF32});
  EXPECT_FALSE(prints(narrow, "float64")) << ir::print(*narrow);
  EXPECT_EQ(mapped("y = x * 0.1", {3}), Floats{3.0F * 0.1F});

  Array<double> x{{3}};
  Array<double> y{{0}};
  run(compiled(texts, {kF64, kF64}), {1}, 0, x.argument(), y.argument());
  EXPECT_EQ(y.values[0], 3 * 0.1 + 3);

  // One wide parameter widens every literal.
  const auto mixed = compiled({"T x, U z", "T y", "y = 0.1"}, {kF32, kF64, kF32});
  EXPECT_TRUE(prints(mixed, "0.10000000149011612") || prints(mixed, "0.1")) << ir::print(*mixed);
}

TEST(Typing, SuffixedAndDeclaredTypesStay) {
  Array<double> x{{1}};
  Array<double> y{{0}};
  run(compiled({"T x", "T y", "y = x * 0.1f"}, {kF64, kF64}), {1}, 0, x.argument(), y.argument());
  EXPECT_EQ(y.values[0], static_cast<double>(0.1F));
  EXPECT_TRUE(prints(compiled({"T x", "T y", "double d = x; y = d;"}, {kF32, kF32}), "float64"));
}

TEST(Typing, HalvesComputeInFloat32AndNarrowWhenStored) {
  const auto kernel = compiled({"T x", "T y", "T s = x * x; y = s + x;"}, {kF16, kF16});
  // x * x is computed in float32. It overflows float16 when it is stored in `s`.
  Array<std::uint16_t> x{{0x5cb0}};  // 300
  Array<std::uint16_t> y{{0}};
  run(kernel, {1}, 0, x.argument(), y.argument());
  EXPECT_EQ(y.values[0], 0x7c00);  // infinity
  const auto fits = compiled({"T x", "T y", "y = x * x / x;"}, {kF16, kF16});
  run(fits, {1}, 0, x.argument(), y.argument());
  EXPECT_EQ(y.values[0], 0x5cb0);
}

TEST(Typing, IndicesAreInt32AndMeetWiderParameters) {
  const auto kernel = compiled({"S s", "S y", "ptrdiff_t k = i; y = k * s + n;"}, {kI64, kI64});
  Array<std::int64_t> s{{0, std::int64_t{1} << 40}};
  Array<std::int64_t> y{{0, 0}};
  run(kernel, {2}, 0, s.argument(), y.argument());
  EXPECT_EQ(y.values, (std::vector<std::int64_t>{2, (std::int64_t{1} << 40) + 2}));
}

TEST(Typing, SmallIntegersPromoteAndUnsignedWins) {
  Array<std::uint8_t> a{{200}};
  Array<std::int64_t> y{{0}};
  run(compiled({"uint8 a", "int64 y", "y = a + a"}, {DType::uint8, kI64}), {1}, 0, a.argument(),
      y.argument());
  EXPECT_EQ(y.values[0], 400);
  Array<std::uint32_t> u{{1}};
  run(compiled({"uint32 a", "int64 y", "y = a - 2 > 0"}, {DType::uint32, kI64}), {1}, 0,
      u.argument(), y.argument());
  EXPECT_EQ(y.values[0], 1);
}

TEST(Typing, IntegerDivisionTruncatesAndComparisonsAreNumbers) {
  EXPECT_EQ(mapped("y = (int)x / 2 + (x > 0) - (x < 0)", {5, -5, 0}), (Floats{3, -3, 0}));
  EXPECT_EQ(mapped("y = 7 / 2 * 2.0", {0}), Floats{6});
}

TEST(Typing, InfinityIsAConstantNotADivision) {
  const auto kernel = compiled({"T x", "T y", "y = -(T)(1.0 / 0.0);"}, {kF32, kF32});
  EXPECT_FALSE(prints(kernel, "divide")) << ir::print(*kernel);
  EXPECT_EQ(mapped("y = - (T) (1.0 / 0.0)", {0})[0], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(mapped("y = 0.0 / 0.0", {0})[0]));
}

TEST(Statements, LoopsWithBreakContinueAndStep) {
  const std::string sum =
      "T s = 0; for (int k = 0; k < 10; ++k) { if (k == 2) continue; if (k > x) break; s += k; }"
      "y = s;";
  EXPECT_EQ(mapped(sum, {0, 1, 3, 20}), (Floats{0, 1, 4, 43}));
  EXPECT_EQ(mapped("int k = 0; while (k * k < x) k++; y = k;", {0, 10, 16}), (Floats{0, 4, 4}));
  EXPECT_EQ(mapped("int k = 0; do { k += 2; if (k == 4) continue; } while (k < x); y = k;", {1, 7}),
            (Floats{2, 8}));
  EXPECT_EQ(mapped("int a = 0, b = 9; for (; a < b; ++a, --b) ; y = a + 100 * b;", {0}),
            Floats{504 - 100 + 1});
}

TEST(Statements, ConditionsThatNeedStatementsRunEachTurn) {
  EXPECT_EQ(mapped("int k = 0; while (k++ < x) ; y = k;", {0, 3}), (Floats{1, 4}));
  EXPECT_EQ(mapped("int k = 0; do { if (k == 1) continue; } while (++k < x); y = k;", {0, 3}),
            (Floats{1, 3}));
  EXPECT_EQ(mapped("int k = 0; for (; (k += 2) < x;) ; y = k;", {5}), Floats{6});
}

TEST(Statements, ReturnAndOuterContinueEndTheElement) {
  EXPECT_EQ(mapped("y = 1; if (x > 0) return; y = 2;", {1, -1}), (Floats{1, 2}));
  EXPECT_EQ(mapped("y = 1; if (x > 0) continue; y = 2;", {1, -1}), (Floats{1, 2}));
}

TEST(Statements, AfterLoopFollowsAReturn) {
  Array<float> x{{1, -1}};
  Array<float> y{{0, 0}};
  const Texts texts{"T x",
                    "T y",
                    "for (;;) { if (x > 0) return; break; } y += 1;",
                    "",
                    "y = base; T base2 = 5;",
                    "y += base2;"};
  Texts fixed = texts;
  fixed.loop_prep = "T base = 10; T base2 = 5; y = base;";
  run(compiled(fixed, {kF32, kF32}), {2}, 0, x.argument(), y.argument());
  EXPECT_EQ(y.values, (Floats{15, 16}));
}

TEST(Expressions, EffectsHappenFromLeftToRightAndOnlyWhereReached) {
  EXPECT_EQ(mapped("int k = 1; int a = k + k++; y = a * 10 + k;", {0}), Floats{22});
  EXPECT_EQ(mapped("int k = 0; bool b = x > 0 && k++ >= 0; y = k * 10 + b;", {1, -1}),
            (Floats{11, 0}));
  EXPECT_EQ(mapped("int k = 5; T v = x > 0 ? k++ : --k; y = v * 100 + k;", {1, -1}),
            (Floats{506, 404}));
  EXPECT_EQ(mapped("T a, b; a = b = x + 1; y = a + b; y *= 2, y -= 1;", {1}), Floats{7});
}

TEST(Expressions, PrecedenceIsCs) {
  EXPECT_EQ(mapped("y = 1 + 2 * 3 - 8 / 4 % 3 << 1 & 15 | 32 ^ 1", {0}),
            Floats{(5 << 1 & 15) | (32 ^ 1)});
  EXPECT_EQ(mapped("y = x > 0 ? 1 : x < -1 ? 2 : 3", {1, -2, 0}), (Floats{1, 2, 3}));
  EXPECT_EQ(mapped("y = -x * x + !x", {3, 0}), (Floats{-9, 1}));
}

TEST(Expressions, MathematicsByItsCudaNames) {
  const float x = 0.3F;
  EXPECT_FLOAT_EQ(mapped("y = __expf(x) + rsqrt(x) + fmaxf(x, 1.f)", {x})[0],
                  std::exp(x) + 1 / std::sqrt(x) + 1);
  EXPECT_EQ(mapped("y = min(1.0, max(0.0, x))", {-1, 0.5F, 7}), (Floats{0, 0.5F, 1}));
  EXPECT_EQ(mapped("y = max((int)x, 2) + abs(-3)", {5}), Floats{8});
  EXPECT_EQ(mapped("y = __float2int_rd(x)", {-1.5F, 1.5F}), (Floats{-2, 1}));
  EXPECT_EQ(mapped("y = isnan(x) + 2 * isinf(x)", {std::nanf(""), -HUGE_VALF, 1}),
            (Floats{1, 2, 0}));
  EXPECT_EQ(mapped("y = round(x) + 10 * rint(x)", {2.5F}), Floats{23});
}

TEST(Functions, TemplatesAreMadeForEachType) {
  const std::string preamble =
      "template <typename U> __device__ U half_of(U v) { const U h = 0.5; return v * h; }";
  EXPECT_EQ(mapped("y = half_of(x) + half_of(3) + half_of<float>(3)", {5}, preamble),
            Floats{2.5F + 0 + 1.5F});
}

TEST(Functions, ReferencesWriteTheirArguments) {
  const std::string preamble =
      "__device__ bool find(T v, int &low, T &rest) {"
      "  for (int k = 0; k < 5; ++k)"
      "    for (int j = 0; j < 2; ++j) { if (v < k) { low = k; rest = k - v; return true; } }"
      "  low = -1; return false; }";
  EXPECT_EQ(mapped("int low; T rest = 9; bool ok = find(x, low, rest); y = low * 10 + ok + rest;",
                   {1.5F, 70}, preamble),
            (Floats{21.5F, -1}));
}

TEST(Functions, ReferencesToElementsKeepTheirIndex) {
  Array<float> v{{1, 2, 3}};
  const Texts texts{"", "raw T v", "int k = 0; bump(v[k++], k);",
                    "__device__ void bump(T &e, int by) { e += by; e += by; }"};
  run(compiled(texts, {kF32}), {1}, 0, v.argument());
  EXPECT_EQ(v.values, (Floats{3, 2, 3}));
}

TEST(Macros, ObjectsAndFunctions) {
  const std::string preamble =
      "#define SQUARE(v) ((v) * (v))\n#define GATES \\\n  T a = SQUARE(x + 1); \\\n  T b = 2;\n"
      "#ifdef NEVER\n#error\n#endif\n#define x_alias x";
  EXPECT_EQ(mapped("GATES; y = a + b + x_alias;", {2}, preamble), Floats{13});
}

TEST(Raw, IndexedByNumberAndByArray) {
  Array<float> x{{0, 1, 2, 10, 11, 12}, {2, 3}};
  Array<std::int64_t> t{{2, 0}};
  Array<float> y{{0, 0}};
  const Texts both{"S t, raw T x", "T y", "int at[] = {i, t}; y = x[at] * 100 + x[i];"};
  run(compiled(both, {kI64, kF32, kF32}), {2}, 0, t.argument(), x.argument(), y.argument());
  EXPECT_EQ(y.values, (Floats{200, 1001}));
  const Texts other{"S t, raw T x", "T y", "int at[] = {i, t}; y = x[i] + x[at] * 100;"};
  run(compiled(other, {kI64, kF32, kF32}), {2}, 0, t.argument(), x.argument(), y.argument());
  EXPECT_EQ(y.values, (Floats{200, 1001}));
}

TEST(Raw, ShapeSizeAndLoopCoordinates) {
  Array<float> x{{0, 1, 2, 10, 11, 12}, {2, 3}};
  Array<float> y{{0, 0, 0, 0, 0, 0}, {3, 2}};
  const Texts texts{"raw T x", "T y",
                    "y = x.shape()[1] * 100 + x.size() * 10 + _ind.get()[0] - _ind.size();"};
  run(compiled(texts, {kF32, kF32}), {3, 2}, 0, x.argument(), y.argument());
  EXPECT_EQ(y.values, (Floats{354, 354, 355, 355, 356, 356}));
}

TEST(Raw, AtomicsUpdateAndGiveTheOldValue) {
  Array<std::int32_t> k{{5, 2, 9}};
  Array<std::int32_t> w{{0, 0, 100}};
  Array<std::int32_t> old{{0, 0, 0}};
  const Texts texts{"int32 k", "raw int32 w, int32 old",
                    "old = atomicAdd(&w[0], k); atomicMax(&w[1], k); atomicSub(&w[2], k);"};
  const auto kernel = compiled(texts, {kI32, kI32, kI32});
  run(kernel, {3}, 0, k.argument(), w.argument(), old.argument());
  EXPECT_EQ(w.values, (std::vector<std::int32_t>{16, 9, 84}));
  EXPECT_EQ(old.values, (std::vector<std::int32_t>{0, 5, 7}));
  EXPECT_TRUE(kernel->params[1].atomic);
}

TEST(Raw, AtomicsOfHalvesAddInHalfPrecision) {
  using ir::Half;
  Array<Half> x{{Half(1), Half(2048), Half(0.5F)}};
  Array<Half> total{{Half(1), Half(7)}};
  const auto kernel = compiled({"T x", "raw T total", "atomicAdd(&total[0], x);"},
                               {DType::float16, DType::float16});
  run(kernel, {3}, 0, x.argument(), total.argument());
  EXPECT_EQ(static_cast<float>(total.values[0]), 2050);  // 2 + 2048, and 0.5 is lost
  EXPECT_EQ(static_cast<float>(total.values[1]), 7);
}

TEST(Raw, ArraysOfVariables) {
  EXPECT_EQ(
      mapped("float t[4]; for (int k = 0; k < 4; ++k) t[k] = x * k; y = t[(int)x] + t[3];", {2}),
      Floats{10});
  // No variable indexes the array. So the kernel has single locals and no array.
  const auto kernel =
      compiled({"raw T x", "T y", "int at[] = {i, 0}; at[1] += 1; y = x[at];"}, {kF32, kF32});
  ASSERT_TRUE(kernel.ok());
  for (const ir::Local& local : kernel->locals) EXPECT_EQ(local.length, 0U);
}

TEST(Complex, PartsAndArithmetic) {
  using C = std::complex<float>;
  Array<C> x{{C(1, 2)}};
  Array<C> y{{C(0, 0)}};
  const Texts texts{"T x", "T y", "y = conj(x) * x + complex<float>(x.imag(), abs(x) * 0);"};
  run(compiled(texts, {DType::complex64, DType::complex64}), {1}, 0, x.argument(), y.argument());
  EXPECT_EQ(y.values[0], C(7, 0));
}

TEST(Access, TellsWhatIsReadAndWritten) {
  const auto kernel =
      compiled({"T x, raw T r", "T y, T z, raw T w", "y = x + r[0]; z += 1; w[i] = 0;"},
               {kF32, kF32, kF32, kF32, kF32});
  ASSERT_TRUE(kernel.ok());
  using ir::Access;
  const std::vector<Access> wanted{Access::read, Access::read, Access::write, Access::read_write,
                                   Access::write};
  for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_EQ(kernel->params[k].access, wanted[k]);
}

Result<ir::Kernel> reduction(const ReductionText& text, const std::string& in,
                             const std::string& out, const Dtypes& dtypes) {
  ReductionText full = text;
  full.in_params = parse_params(in).value();
  full.out_params = parse_params(out).value();
  full.name = "r";
  const auto types = bound(full.in_params, full.out_params, dtypes);
  if (!types) return types.error();
  auto kernel = compile_reduction(full, *types);
  if (kernel) {
    const Status verified = ir::verify(*kernel);
    EXPECT_TRUE(verified.ok()) << verified.error().message;
  }
  return kernel;
}

TEST(Reduction, MapsCombinesAndFinishes) {
  ReductionText text;
  text.map_expr = "x * x";
  text.reduce_expr = "a + b";
  text.post_map_expr = "y = sqrt(a) * s";
  text.identity = "0";
  const auto kernel = reduction(text, "T x, T s", "T y", {kF32, std::nullopt, kF32});
  Array<float> x{{3, 4, 6, 8}, {2, 2}};
  Array<float> y{{0, 0}};
  run(kernel, {2, 2}, 2U, x.argument(), ir::Argument::value(kF32, 2.0F), y.argument());
  EXPECT_EQ(y.values, (Floats{10, 20}));
}

TEST(Reduction, CountsElementsAndTakesItsOwnType) {
  ReductionText text;
  text.map_expr = "x > 0 ? w[_j] : S(-1)";
  text.reduce_expr = "max(a, b)";
  text.post_map_expr = "y = a";
  text.identity = "-1";
  text.reduce_type = "S";
  const auto kernel = reduction(text, "T x, raw S w", "float32 y", {kF32, kI64, kF32});
  Array<float> x{{1, -1, 1}};
  Array<std::int64_t> w{{7, 99, 8}};
  Array<float> y{{0}, {1}};
  y.shape = {};
  run(kernel, {3}, 1U, x.argument(), w.argument(), ir::Argument::array(y.values.data(), View{}));
  EXPECT_EQ(y.values[0], 8);
}

TEST(Reduction, HalvesAccumulateInFloat32) {
  ReductionText text;
  text.map_expr = "x";
  text.reduce_expr = "a + b";
  text.post_map_expr = "y = a - 2048";
  text.identity = "0";
  const auto kernel = reduction(text, "T x", "T y", {kF16, kF16});
  Array<std::uint16_t> x{{0x6800, 0x3c00, 0x3c00, 0x3c00}};  // 2048, 1, 1, 1
  Array<std::uint16_t> y{{0}};
  run(kernel, {4}, 1U, x.argument(), ir::Argument::array(y.values.data(), View{}));
  EXPECT_EQ(y.values[0], 0x4200);  // 3
}

}  // namespace
}  // namespace arraycore::dialect
