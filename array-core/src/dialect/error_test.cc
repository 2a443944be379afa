// Tests which texts are refused, and the messages. No text may crash the compiler.
#include "dialect/test_support.h"

namespace arraycore::dialect {
namespace {

std::string refused(const std::string& operation, const std::string& preamble = {}) {
  return error_of({"T x", "T y", operation, preamble}, {kF32, kF32});
}
#define EXPECT_REFUSED(part, ...) EXPECT_THAT(refused(__VA_ARGS__), ::testing::HasSubstr(part))

TEST(Messages, ShowLineColumnSourceAndCaret) {
  EXPECT_EQ(refused("T a = x;\n\ty = a + bb;  // größer"),
            "kernel 'k', operation, line 2, column 10: 'bb' is not known here\n"
            "  \ty = a + bb;  // größer\n"
            "  \t        ^");
}

TEST(Messages, CountCharactersNotBytes) {
  EXPECT_EQ(refused("/* ö */ y = z;"),
            "kernel 'k', operation, line 1, column 13: 'z' is not known here\n"
            "  /* ö */ y = z;\n"
            "              ^");
}

TEST(Messages, NameTheTextAndAreOfKindCompile) {
  const auto kernel =
      compiled({"T x", "T y", "y = f(x)", "__device__ T f(T v) { return w; }"}, {kF32, kF32});
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, ErrorKind::compile);
  EXPECT_EQ(kernel.error().code, "kernel_text");
  EXPECT_EQ(kernel.error().message.find("kernel 'k', preamble, line 1, column 30: "), 0U)
      << kernel.error().message;
}

TEST(Messages, LongLinesAreShownAroundTheCaret) {
  const std::string message =
      refused(std::string(5000, ' ') + "y = nope;" + std::string(5000, ' '));
  EXPECT_LT(message.size(), 400U);
  EXPECT_NE(message.find("column 5005"), std::string::npos);
}

TEST(Refused, Syntax) {
  EXPECT_REFUSED("';' is expected after the statement, but 'x' stands here", "y = x x");
  EXPECT_REFUSED("an expression is expected here, but the text ends", "y = ");
  EXPECT_REFUSED("'}' is expected after the block that began above, but the text ends", "{ y = x;");
  EXPECT_REFUSED("this comment is never closed", "y = x; /*");
  EXPECT_REFUSED("'switch' is not part of the dialect", "switch (i) {}");
  EXPECT_REFUSED("texts and characters are not part of the dialect", "y = 'a'");
  EXPECT_REFUSED("an #ifdef is never closed", "y = x", "#ifdef A");
  EXPECT_REFUSED("this macro takes 1 arguments, not 2", "y = F(1, 2)", "#define F(a) a");
  EXPECT_REFUSED("this number does not fit in 64 bits", "y = 99999999999999999999");
}

TEST(Refused, NamesAndTypes) {
  EXPECT_REFUSED("the function 'foo' is not known here", "y = foo(x)");
  EXPECT_REFUSED("'x' is an input and cannot be assigned", "x = 1");
  EXPECT_REFUSED("'c' is const and cannot be assigned", "const T c = 1; c = 2;");
  EXPECT_REFUSED("this cannot be assigned", "x + 1 = 2");
  EXPECT_REFUSED("'%' takes integers: use fmod", "y = x % 2");
  EXPECT_REFUSED("'&' takes integers", "y = x & 1");
  EXPECT_REFUSED("'y' is one element", "y[0] = 1");
  EXPECT_REFUSED("'T' is a type, not a value", "y = T");
  EXPECT_REFUSED("'exp' takes 1 argument, not 2", "y = exp(x, x)");
  EXPECT_REFUSED("'break' stands outside a loop", "break");
  EXPECT_REFUSED("'_j' counts a reduction's elements", "y = _j");
  EXPECT_REFUSED("nothing is returned here", "return x;");
  EXPECT_REFUSED("calls itself", "y = f(x)", "__device__ T f(T v) { return f(v); }");
  EXPECT_REFUSED("a reference to float32 cannot refer to it", "int k; f(k);",
                 "__device__ void f(T &v) { v = 1; }");
  EXPECT_REFUSED("'atomicAdd' updates an element of a raw array", "atomicAdd(&y, x)");
  EXPECT_REFUSED("an array's length is a constant from 1 to 64", "int a[i];");
}

TEST(Refused, ValuesOfVoidFunctions) {
  const std::string nothing = "__device__ void f() {}\n";
  for (const char* use :
       {"y = f();", "int a[f()];", "int a[] = {1, 2}; y = a[f()];", "const auto c = f();",
        "y = -f() + f();", "y = f() ? 1 : 2;", "y = x > 0 ? f() : 1;", "y = exp(f());",
        "while (f()) ;", "y = (T)f();", "y = f() && true;", "y = _ind.get()[f()];", "y += f();",
        "T v(f());", "y = abs(f());", "y = assert(x);"})
    EXPECT_THAT(refused(use, nothing), ::testing::StartsWith("kernel 'k', operation, line 1"))
        << use;
  EXPECT_REFUSED("a complex number does not become float32", "y = (T)f(complex<float>(x, x));",
                 "__device__ float f(float v) { return v; }");
  EXPECT_REFUSED("this function gives no value", "y = x;", nothing + "const auto c = f();");
}

TEST(Refused, PointersAreNotImplemented) {
  const auto kernel =
      compiled({"P p", "T y", "y = reinterpret_cast<const T*>(p)[i];"}, {DType::uint64, kF32});
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, ErrorKind::not_implemented);
  EXPECT_EQ(kernel.error().code, "device_pointer");
  EXPECT_REFUSED("pointers do not exist here", "T *p = &y;");
}

TEST(Refused, AtomicsOfComplexNumbers) {
  const auto kernel =
      compiled({"T x", "raw T y", "atomicAdd(&y[0], x)"}, {DType::complex64, DType::complex64});
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, ErrorKind::not_implemented);
}

TEST(Bounds, NestingLengthAndExpansion) {
  EXPECT_REFUSED("nested too deeply", "y = " + std::string(60'000, '(') + "x");
  EXPECT_REFUSED("nested too deeply", std::string(60'000, '{'));
  EXPECT_REFUSED("nested too deeply", "y = " + std::string(60'000, '-') + "x");
  std::string sum = "y = x";
  for (int k = 0; k < 5000; ++k) sum += " + x";
  EXPECT_REFUSED("this expression is too long", sum);
  EXPECT_REFUSED("the text is longer than 256 KiB", std::string(300'000, ' '));
  std::string doubling = "#define A0 x\n";
  for (int k = 1; k < 31; ++k)
    doubling += "#define A" + std::to_string(k) + " A" + std::to_string(k - 1) + " + A" +
                std::to_string(k - 1) + "\n";
  EXPECT_REFUSED("the macros expand to too long a text", "y = A30", doubling);
  std::string calls = "__device__ void f0(T &v) { v += 1; }\n";
  for (int k = 1; k < 16; ++k) {
    const std::string callee = "f" + std::to_string(k - 1) + "(v); ";
    calls += "__device__ void f" + std::to_string(k) + "(T &v) { " + callee + callee + callee +
             callee + "}\n";
  }
  EXPECT_REFUSED("too large once its functions are written out", "T v = x; f15(v); y = v;", calls);
}

TEST(Reduction, ErrorsNameTheirText) {
  ReductionText text;
  text.in_params = parse_params("T x").value();
  text.out_params = parse_params("T y").value();
  text.map_expr = "x";
  text.reduce_expr = "a + b";
  text.post_map_expr = "y = a";
  text.identity = "0";
  const auto types = bound(text.in_params, text.out_params, {kF32, kF32});
  const auto message = [&](const ReductionText& changed) {
    const auto kernel = compile_reduction(changed, *types);
    return kernel ? "compiled" : kernel.error().message;
  };
  EXPECT_EQ(message(text), "compiled");
  ReductionText changed = text;
  changed.map_expr = "x + i";
  EXPECT_THAT(message(changed), ::testing::HasSubstr("map_expr, line 1, column 5: 'i' is not"));
  changed = text;
  changed.post_map_expr = "y = a * x";
  EXPECT_THAT(message(changed), ::testing::HasSubstr("elements of 'x' are known in map_expr only"));
  changed = text;
  changed.identity = "_j";
  EXPECT_THAT(message(changed), ::testing::HasSubstr("identity, line 1"));
  changed = text;
  changed.reduce_expr = "a = b";
  EXPECT_THAT(message(changed), ::testing::HasSubstr("'a' is const"));
  changed = text;
  changed.reduce_type = "nothing";
  EXPECT_THAT(message(changed), ::testing::HasSubstr("reduce_type, line 1, column 1: this is not"));
}

}  // namespace
}  // namespace arraycore::dialect
