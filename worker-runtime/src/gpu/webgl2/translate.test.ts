// Tests the translation of generated code into GLSL. Node.

import { describe, expect, test } from "vitest";
import { glslOf, missingFunctions, translate } from "./translate.ts";

describe("translate", () => {
  test.each([
    [
      "types come before names",
      "fn f(a: f32, b: vec2<u32>) -> i32 {\n  let x: u32 = b.x;\n  return 1i;\n}",
      "int f(float a, uvec2 b) {\n  uint x = b.x;\n  return 1;\n}",
    ],
    ["a function without result", "fn g() { h(); }", "void g() { h(); }"],
    ["a private variable", "var<private> p0: vec2<f32>;", "vec2 p0;"],
    ["a structure", "struct S { rest: f32, n: u32 }", "struct S { float rest; uint n; };"],
    ["numbers", "a = 3i + 0xffu - 1.5e-3 * -2e8;", "a = 3 + 0xffu - 1.5e-3 * -2e8;"],
    ["a sign after a hexadecimal number", "x = 0x0eu -1i;", "x = 0x0eu -1;"],
    ["a variable without a value", "var a: f32;", "float a = float(0);"],
    ["a flag without a value", "var a: bool;", "bool a = bool(0);"],
    [
      "an array without values",
      "var a: array<i32, 3>;",
      "int a[3]; for (int zero = 0; zero < 3; ++zero) a[zero] = int(0);",
    ],
    [
      "an array with values",
      "var w: array<u32, 2> = array<u32, 2>(1u, 2u);",
      "uint w[2] = uint[2](1u, 2u);",
    ],
    ["a vector of zeros", "return vec2<u32>();", "return uvec2(0);"],
    ["a false", "give(bool());", "give(false);"],
    [
      "casts of bits are functions",
      "bitcast<u32>(x) + bitcast<vec2<f32>>(y).x",
      "as_uint(x) + as_vec2(y).x",
    ],
    [
      "reserved names get an underscore",
      "let half: f32 = 0.5; half * x",
      "float half_ = 0.5; half_ * x",
    ],
    [
      "what continues runs before each turn but the first",
      "loop {\n  if (c) { continue; }\n  f();\n  continuing {\n    i += 1i;\n    break if !d;\n  }\n}",
      "for (bool again0 = false; ; again0 = true) {\n  if (again0) {\n    i += 1;\n    if (!d) { break; }\n  }\n" +
        "  if (c) { continue; }\n  f();\n}",
    ],
    [
      "a loop that only breaks",
      "loop {\n  if (c) { break; }\n}",
      "while (true) {\n  if (c) { break; }\n}",
    ],
    [
      "nested loops have their own turns",
      "loop { loop { a(); continuing { b(); } } continuing { c(); } }",
      "for (bool again0 = false; ; again0 = true) { if (again0) { c(); } for (bool again1 = false; ; " +
        "again1 = true) { if (again1) { b(); } a(); } }",
    ],
  ])("%s", (_, code, glsl) => {
    expect(translate(code)).toBe(glsl);
  });
});

test("only the missing functions that are used are added", () => {
  expect(missingFunctions("x = 1;")).toBe("");
  expect(missingFunctions("x = preselect(1);")).toBe("");
  expect(missingFunctions("x = select(a, b, c);")).toContain("uvec2 select(");
  expect(missingFunctions("x = as_int(y);")).not.toContain("as_uint");
});

test("a pass is translated between its lines", () => {
  expect(
    glslOf("uniform int u;\n//translate\nfn f() { fma(a, b, c); }\n//main\nvoid main() {}\n"),
  ).toBe(
    "uniform int u;\nfloat fma(float a, float b, float c) { return a * b + c; }\n" +
      "void f() { fma(a, b, c); }\nvoid main() {}\n",
  );
  expect(glslOf("void main() {}\n")).toBe("void main() {}\n");
});
