// Tests users' WGSL: bindings and entry points are found and renumbered, uniform blocks get WGSL's
// layout, and a launch that is not possible is refused with a position.
#include "wgsl/raw_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace arraycore::wgsl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RawModule read(std::string_view text, std::string_view entry = "main") {
  auto module = read_raw_module(entry, text);
  EXPECT_TRUE(module) << module.error().message;
  return module ? *module : RawModule{};
}
std::string error_of(std::string_view text, std::string_view entry = "main") {
  const auto module = read_raw_module(entry, text);
  EXPECT_FALSE(module) << text;
  if (module) return "";
  EXPECT_EQ(module.error().kind, ErrorKind::compile);
  EXPECT_EQ(module.error().code, "raw_text");
  return module.error().message;
}

constexpr std::string_view kMain = "@compute @workgroup_size(64) fn main() {}\n";

std::vector<std::uint32_t> offsets(std::string_view declarations, std::string_view type) {
  std::string text(declarations);
  text += "@group(0) @binding(0) var<uniform> u: " + std::string(type) + ";\n";
  const RawModule module = read(text + std::string(kMain));
  std::vector<std::uint32_t> out;
  for (const UniformSlot& slot : module.uniforms) out.push_back(slot.offset);
  out.push_back(module.uniform_bytes);
  return out;
}

TEST(RawModule, BindingsAreRenumberedInTheTextsOrderAndNothingElseChanges) {
  const RawModule module = read(R"(
@group(0) @binding(7) var<storage, read_write> out: array<f32>;
@binding(3) @group(0) var<storage> a : array<f32>;   // @binding(3)
@group(0) @binding(0x4u,) var<storage,read> b: array<f32>;
@group(0) @binding(5) var<uniform> scale: f32;
var<workgroup> tile: array<f32, 64>;
var<private> p = 7;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  out[id.x] = a[id.x] + b[id.x] * scale; /* @binding(7) */
})");
  EXPECT_THAT(module.bindings, ElementsAre(StorageBinding{"a", false}, StorageBinding{"b", false},
                                           StorageBinding{"out", true}));
  EXPECT_THAT(module.uniforms, ElementsAre(UniformSlot{0, DType::float32}));
  EXPECT_EQ(module.uniform_bytes, 4U);
  EXPECT_EQ(module.text, R"(
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@binding(1) @group(0) var<storage> a : array<f32>;   // @binding(3)
@group(0) @binding(2,) var<storage,read> b: array<f32>;
@group(0) @binding(0) var<uniform> scale: f32;
var<workgroup> tile: array<f32, 64>;
var<private> p = 7;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  out[id.x] = a[id.x] + b[id.x] * scale; /* @binding(7) */
})");
}

TEST(RawModule, CommentsHoldNoDeclarations) {
  const RawModule module = read(R"(
// @group(0) @binding(1) var<storage> line: array<f32>;
/* @group(0) @binding(2) var<storage> block: array<f32>;
   /* nested */ @group(0) @binding(3) var<storage> still: array<f32>; */
@group(0) @binding(4) /* between */ var<storage> real: array<f32>; // }}}
@compute @workgroup_size(1) fn main() { let q = 6 / 2; /* } */ }
)");
  EXPECT_THAT(module.bindings, ElementsAre(StorageBinding{"real", false}));
}

TEST(RawModule, TheEntryPointIsCalledMainForTheDevice) {
  const RawModule module = read(
      "@compute @workgroup_size(1) fn main() {}\n"
      "fn main_() -> i32 { return 1; }\n"
      "@compute @workgroup_size(1) fn scale() { let x = main_(); }\n",
      "scale");
  EXPECT_EQ(module.text,
            "@compute @workgroup_size(1) fn main__() {}\n"
            "fn main_() -> i32 { return 1; }\n"
            "@compute @workgroup_size(1) fn main() { let x = main_(); }\n");
}

TEST(RawModule, DirectivesAliasesAndConstantsAreUnderstood) {
  const RawModule module = read(R"(
enable f16;
diagnostic(off, derivative_uniformity);
const kCount: u32 = 3u;
const kAgain = kCount;
alias Real = f32;
alias Point = vec2<Real>;
override speed: f32 = 1.0;
const_assert kCount < 4;
struct Block { points: array<Point, kAgain>, }
@group(0) @binding(0) var<uniform> u: Block;
@compute @workgroup_size(1) fn main() { if (speed < 2.0) { return; } }
)");
  EXPECT_EQ(module.uniform_bytes, 24U);
  EXPECT_EQ(module.uniforms.size(), 6U);
}

// Checks the sizes in WGSL's own table ("Alignment and size of host-shareable types").
TEST(RawModule, UniformBlocksAreLaidOutAsWgslSays) {
  EXPECT_THAT(offsets("", "u32"), ElementsAre(0, 4));
  EXPECT_THAT(offsets("", "vec3f"), ElementsAre(0, 4, 8, 12));
  EXPECT_THAT(offsets("struct S { a: f32, b: vec2f, c: vec3<i32>, d: u32 }", "S"),
              ElementsAre(0, 8, 12, 16, 20, 24, 28, 32));
  EXPECT_THAT(offsets("struct S { a: u32, b: vec3f }", "S"), ElementsAre(0, 16, 20, 24, 32));
  EXPECT_THAT(offsets("struct S { m: mat2x3f, s: f32 }", "S"),
              ElementsAre(0, 4, 8, 16, 20, 24, 32, 48));
  EXPECT_THAT(offsets("struct S { a: array<vec3f, 2>, b: f32 }", "S"),
              ElementsAre(0, 4, 8, 16, 20, 24, 32, 48));
  EXPECT_THAT(
      offsets("struct I { x: f32, y: f32 } struct S { a: f32, @align(16) i: I, b: u32 }", "S"),
      ElementsAre(0, 16, 20, 24, 32));
  EXPECT_THAT(offsets("struct S { @size(16) a: u32, b: u32 }", "S"), ElementsAre(0, 16, 20));
  EXPECT_THAT(offsets("enable f16; struct S { a: f16, b: vec2h, c: f16 }", "S"),
              ElementsAre(0, 4, 6, 8, 12));
}

TEST(RawModule, WhatALaunchCannotServeIsRefusedWithItsPlace) {
  const std::string main(kMain);
  EXPECT_EQ(error_of("\n@group(1) @binding(0) var<storage> a: array<f32>;\n" + main),
            "kernel 'main', code, line 2, column 2: every binding is in group 0\n"
            "  @group(1) @binding(0) var<storage> a: array<f32>;\n"
            "   ^");
  const auto refused = [&](std::string_view text, std::string_view why) {
    EXPECT_THAT(error_of(std::string(text) + "\n" + main), HasSubstr(why)) << text;
  };
  refused("@group(0) @binding(0) var t: texture_2d<f32>;", "arrays (var<storage>) and numbers");
  refused("var<storage> a: array<f32>;", "@group(0) and @binding(number)");
  refused("const k = 1; @group(0) @binding(k) var<storage> a: array<f32>;", "is written out");
  refused("@group(0) @binding(1+1) var<storage> a: array<f32>;", "is written out");
  refused("@group(0) @binding(1) var<storage, write> a: array<f32>;", "read_write");
  refused("@group(0) @binding(1) var<uniform, read> a: f32;", "read_write");
  refused(
      "@group(0) @binding(1) var<storage> a: array<f32>;"
      "@group(0) @binding(1) var<storage> b: array<f32>;",
      "binding 1 is there already");
  refused("@group(0) @binding(0) var<uniform> a: f32; @group(0) @binding(1) var<uniform> b: f32;",
          "there is a uniform block already");
  refused("@group(0) @binding(0) var<uniform> a: array<vec4f, 65>;", "at most 1024 bytes");
  refused("@group(0) @binding(0) var<uniform> a: array<vec4f>;", "the length of an array");
  refused("@group(0) @binding(0) var<uniform> a: bool;", "'bool' is no type");
  refused("struct S { s: S } @group(0) @binding(0) var<uniform> a: S;", "nested too deeply");
  refused("struct S {} @group(0) @binding(0) var<uniform> a: S;", "a structure has members");
  refused("struct S { @align(3000) a: f32 } @group(0) @binding(0) var<uniform> u: S;",
          "no number from 4");
  refused("fn broken( { }", "is missing");
}

TEST(RawModule, AnEntryPointThatIsNotThereIsRefused) {
  EXPECT_THAT(error_of(kMain, "other"), HasSubstr("there is no function 'other'"));
  EXPECT_THAT(error_of("fn main() {}"), HasSubstr("has @compute"));
  EXPECT_THAT(error_of(""), HasSubstr("no function 'main'"));
  EXPECT_THAT(error_of(std::string(200'000, ' ')), HasSubstr("131072 bytes"));
}

TEST(RawModule, NoPieceOfATextMakesItFailToEnd) {
  const std::string text(R"(
struct S { a: array<vec3<f32>, 2>, @align(16) b: mat2x3f }
@group(0) @binding(0) var<uniform> u: S;
@group(0) @binding(1) var<storage, read_write> a: array<f32>; /* c /* d */ */
@compute @workgroup_size(1) fn main() { a[0] = u.b[0].x + 1e-3f; } // end)");
  for (std::size_t begin = 0; begin < text.size(); begin += 3) {
    for (std::size_t end = begin; end <= text.size(); end += 5) {
      const auto module = read_raw_module("main", text.substr(begin, end - begin));
      EXPECT_TRUE(!module || module->text.find("fn main") != std::string::npos);
    }
  }
}

TEST(RawModule, WhatWasRewrittenReadsTheSameAgain) {
  const auto first = read_raw_module(
      "scale",
      "struct Block { count: u32, factor: f32 }\n"
      "@group(0) @binding(7) var<uniform> block: Block;\n"
      "@group(0) @binding(3) var<storage, read_write> y: array<f32>;\n"
      "@group(0) @binding(2) var<storage, read> x: array<f32>;\n"
      "fn main(a: f32) -> f32 { return a * block.factor; }\n"
      "@compute @workgroup_size(64) fn scale(@builtin(global_invocation_id) id: vec3u) {\n"
      "  if (id.x < block.count) { y[id.x] = main(x[id.x]); }\n"
      "}\n");
  ASSERT_TRUE(first) << first.error().message;
  const auto again = read_raw_module("main", first->text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->text, first->text);
  EXPECT_EQ(again->bindings, first->bindings);
  EXPECT_EQ(again->uniforms, first->uniforms);
}

}  // namespace
}  // namespace arraycore::wgsl
