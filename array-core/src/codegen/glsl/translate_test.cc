#include "codegen/glsl/translate.h"

#include <gtest/gtest.h>

namespace arraycore::codegen::glsl {
namespace {

TEST(Translate, PutsTypesBeforeNames) {
  EXPECT_EQ(translate("fn f(a: f32, b: vec2<u32>) -> i32 {\n  let x: u32 = b.x;\n  return 1i;\n}"),
            "int f(float a, uvec2 b) {\n  uint x = b.x;\n  return 1;\n}");
  EXPECT_EQ(translate("fn g() { h(); }"), "void g() { h(); }");
  EXPECT_EQ(translate("var<private> p0: vec2<f32>;"), "vec2 p0;");
  EXPECT_EQ(translate("struct S { rest: f32, n: u32 }"), "struct S { float rest; uint n; };");
}

TEST(Translate, KeepsNumbers) {
  EXPECT_EQ(translate("a = 3i + 0xffu - 1.5e-3 * -2e8;"), "a = 3 + 0xffu - 1.5e-3 * -2e8;");
  EXPECT_EQ(translate("x = 0x0eu -1i;"), "x = 0x0eu -1;");
}

TEST(Translate, VariablesWithoutAValueAreZero) {
  EXPECT_EQ(translate("var a: f32;"), "float a = float(0);");
  EXPECT_EQ(translate("var a: bool;"), "bool a = bool(0);");
  EXPECT_EQ(translate("var a: array<i32, 3>;"),
            "int a[3]; for (int zero = 0; zero < 3; ++zero) a[zero] = int(0);");
  EXPECT_EQ(translate("var w: array<u32, 2> = array<u32, 2>(1u, 2u);"),
            "uint w[2] = uint[2](1u, 2u);");
  EXPECT_EQ(translate("return vec2<u32>();"), "return uvec2(0);");
  EXPECT_EQ(translate("give(bool());"), "give(false);");
}

TEST(Translate, CastsOfBitsAreFunctions) {
  EXPECT_EQ(translate("bitcast<u32>(x) + bitcast<vec2<f32>>(y).x"), "as_uint(x) + as_vec2(y).x");
}

TEST(Translate, ReservedNamesGetAnUnderscore) {
  EXPECT_EQ(translate("let half: f32 = 0.5; half * x"), "float half_ = 0.5; half_ * x");
}

TEST(Translate, WhatContinuesRunsBeforeEachTurnButTheFirst) {
  EXPECT_EQ(translate("loop {\n  if (c) { continue; }\n  f();\n  continuing {\n    i += 1i;\n    "
                      "break if !d;\n  }\n}"),
            "for (bool again0 = false; ; again0 = true) {\n  if (again0) {\n    i += 1;\n    "
            "if (!d) { break; }\n  }\n  if (c) { continue; }\n  f();\n}");
  EXPECT_EQ(translate("loop {\n  break;\n}"), "while (true) {\n  break;\n}");
}

TEST(Translate, NestedLoopsHaveTheirOwnTurns) {
  const std::string text =
      translate("loop { loop { a(); continuing { b(); } } continuing { c(); } }");
  EXPECT_EQ(text,
            "for (bool again0 = false; ; again0 = true) { if (again0) { c(); } for (bool again1 = "
            "false; ; again1 = true) { if (again1) { b(); } a(); } }");
}

TEST(UsedFunctions, AreThoseThatAreNamed) {
  const std::string code =
      "fn a() { x(); }\nfn b() {\n  a();\n}\nfn c() { b(); }\nfn aa(i: i32) -> i32 { return i; }\n";
  EXPECT_EQ(used_functions(code, "void main() { b(); }"), "fn a() { x(); }\nfn b() {\n  a();\n}\n");
  EXPECT_EQ(used_functions(code, "aa(1)"), "fn aa(i: i32) -> i32 { return i; }\n");
  EXPECT_EQ(used_functions(code, ""), "");
  EXPECT_EQ(used_functions("", "a()"), "");
}

TEST(MissingFunctions, OnlyThoseThatAreUsed) {
  EXPECT_EQ(missing_functions("x = 1;"), "");
  EXPECT_EQ(missing_functions("x = preselect(1);"), "");
  EXPECT_NE(missing_functions("x = select(a, b, c);").find("uvec2 select("), std::string::npos);
  EXPECT_EQ(missing_functions("x = as_int(y);").find("as_uint"), std::string::npos);
}

}  // namespace
}  // namespace arraycore::codegen::glsl
