#include "codegen/glsl/used_functions.h"

#include <gtest/gtest.h>

namespace arraycore::codegen::glsl {
namespace {

TEST(UsedFunctions, AreThoseThatAreNamed) {
  const std::string code =
      "fn a() { x(); }\nfn b() {\n  a();\n}\nfn c() { b(); }\nfn aa(i: i32) -> i32 { return i; }\n";
  EXPECT_EQ(used_functions(code, "void main() { b(); }"), "fn a() { x(); }\nfn b() {\n  a();\n}\n");
  EXPECT_EQ(used_functions(code, "aa(1)"), "fn aa(i: i32) -> i32 { return i; }\n");
  EXPECT_EQ(used_functions(code, ""), "");
  EXPECT_EQ(used_functions("", "a()"), "");
}

}  // namespace
}  // namespace arraycore::codegen::glsl
