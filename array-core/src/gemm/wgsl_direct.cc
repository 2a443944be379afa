// The shaders without tiles. In the first, an invocation computes a block of 4 x 4; in the second,
// one element. The third is for results that are vectors.
#include "gemm/wgsl_text.h"

namespace arraycore::gemm {

namespace {

// Writes the code that reads one operand of the 4 x 4 block. In the loop, variable `name`I is a
// vector with the operand's four lines at term k + I.
struct Lines {
  std::string name;
  Load load;
  std::string line_stride;
  std::string term_stride;
  std::string most;
  std::string first;  // the first line of the block
  // If true, the code that reads this operand applies the prologue. It is false with a window,
  // because the function that reads b through the window applies the prologue.
  bool prologue = false;

  std::string places() const {
    if (load == Load::lines4)
      return "  let " + name + "_at = (at." + name + " + min(" + first + ", (" + most +
             " - 1u) / 4u * 4u)) / 4u;\n";
    std::string text;
    for (std::uint32_t j = 0; j < 4; ++j) {
      const std::string line = "min(" + first + " + " + u(j) + ", " + most + " - 1u)";
      if (load == Load::window) {
        text += "  let " + name + "_at" + std::to_string(j) + " = column_of(" + line + ");\n";
        continue;
      }
      const std::string place = "at." + name + " + " + line + " * " + line_stride;
      text += "  let " + name + "_at" + std::to_string(j) + " = " +
              (load == Load::terms4 ? "(" + place + ") / 4u" : place) + ";\n";
    }
    return text;
  }

  std::string take(std::uint32_t terms) const {
    std::string text;
    const auto at = [&](std::uint32_t j) { return name + "_at" + std::to_string(j); };
    if (load == Load::terms4)
      for (std::uint32_t j = 0; j < 4; ++j)
        text += "    let " + name + "_line" + std::to_string(j) + " = " + name + "[" + at(j) +
                " + k / 4u];\n";
    for (std::uint32_t i = 0; i < terms; ++i) {
      text += "    let " + name + std::to_string(i) + " = ";
      const bool stage = prologue && load != Load::window;
      const std::string close =
          stage ? ", at.batch, k + " + u(i) + ", " + first + ");\n" : std::string(";\n");
      if (stage) text += "prologue_lines(";
      if (load == Load::lines4) {
        text +=
            name + "[" + name + "_at + (k + " + u(i) + ") * (" + term_stride + " / 4u)]" + close;
        continue;
      }
      if (load == Load::window) {
        text += "window4(at, " + at(0) + ", " + at(1) + ", " + at(2) + ", " + at(3) + ", k + " +
                u(i) + ");\n";
        continue;
      }
      const std::string step =
          load == Load::outer ? "a_of(k + " + u(i) + ")" : "(k + " + u(i) + ") * " + term_stride;
      text += "vec4<f32>(";
      for (std::uint32_t j = 0; j < 4; ++j) {
        if (j > 0) text += ", ";
        text += load == Load::terms4 ? name + "_line" + std::to_string(j) + "." + "xyzw"[i]
                                     : name + "[" + at(j) + " + " + step + "]";
      }
      text += ")" + close;
    }
    return text;
  }
};

// Returns b's element at term `k`, after the prologue if there is one.
std::string element(const std::string& value, const std::string& column, const StageText& stages) {
  return stages.prologue ? "prologue_at(" + value + ", at.batch, k, " + column + ")" : value;
}

std::string main_text(const StageText& stages) {
  return R"(fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(local_invocation_index) t: u32) {
)" + stages.begin +
         "  let at = place(group.z);\n";
}

}  // namespace

// If an operand is read as vectors along terms, the loop takes four terms at a time; such operands
// have whole vectors. Otherwise it takes one term.
std::string direct_text(const Variant& variant, const StageText& stages) {
  const Lines a{"a", variant.a, "p.a_row", "p.a_column", "p.m", "row"};
  const Lines b{"b", variant.b, "p.b_column", "p.b_row", "p.n", "column", stages.prologue};
  const std::uint32_t terms = variant.a == Load::terms4 || variant.b == Load::terms4 ? 4 : 1;
  std::string text = head(variant, stages) + put_text(variant, stages) +
                     "@compute @workgroup_size(64)\n" + main_text(stages);
  text += "  let row = (group.y * 8u + t / 8u) * 4u;\n";
  text += "  let column = (group.x * 8u + t % 8u) * 4u;\n";
  text += "  if (row >= p.m || column >= p.n) { return; }\n";
  text += a.places() + b.places();
  for (int row = 0; row < 4; ++row) text += "  var c" + std::to_string(row) + " = vec4<f32>();\n";
  text += "  for (var k = at.begin; k < at.end; k += " + u(terms) + ") {\n" + a.take(terms) +
          b.take(terms);
  for (std::uint32_t i = 0; i < terms; ++i)
    for (std::uint32_t row = 0; row < 4; ++row) {
      const std::string c = "c" + std::to_string(row);
      text += "    " + c + " = fma(vec4<f32>(a" + std::to_string(i) + "." + "xyzw"[row] + "), b" +
              std::to_string(i) + ", " + c + ");\n";
    }
  text += "  }\n";
  for (std::uint32_t row = 0; row < 4; ++row)
    text += "  put(at, row + " + u(row) + ", column, c" + std::to_string(row) + ");\n";
  return text + "}\n";
}

std::string plain_text(const Variant& variant, const StageText& stages) {
  const bool window = variant.axes > 0;
  const std::string product =
      window ? "a[at.a + row * p.a_row + a_of(k)] * window(at, place_of_column, term_of(k))"
             : "a[at.a + row * p.a_row + k * p.a_column] * " +
                   element("b[at.b + k * p.b_row + column * p.b_column]", "column", stages);
  // If the sum is divided, each of its parts is a C-ordered matrix, whatever the result's layout.
  const std::string to = variant.split ? "column"
                         : window      ? "out_of(column)"
                                       : "column * p.out_column";
  return head(variant, stages) + "@compute @workgroup_size(64)\n" + main_text(stages) + R"(
  let row = group.y * 8u + t / 8u;
  let column = group.x * 8u + t % 8u;
  if (row >= p.m || column >= p.n) { return; }
  var sum = 0.0;
)" + (window ? "  let place_of_column = column_of(column);\n" : "") +
         "  for (var k = at.begin; k < at.end; k++) {\n    sum += " + product +
         ";\n  }\n  out[at.out + row * p.out_row + " + to +
         "] = " + (stages.epilogue ? "epilogue_at(sum, at.batch, row, column)" : "sum") +
         (variant.wrong ? " + 1.0" : "") + ";\n}\n";
}

std::string vector_text(const Variant& variant, const StageText& stages) {
  const bool rows = variant.kind == Kind::rows;
  const std::string sharers = u(rows ? 32 : 4);  // invocations that share a row of a
  std::string text = head(variant, stages) +
                     "var<workgroup> sums: array<f32, 128>;\n@compute @workgroup_size(128)\n" +
                     main_text(stages);
  // Either 32 neighbouring invocations share a row, or neighbouring invocations compute
  // neighbouring rows.
  text += rows ? "  let lane = t % 32u;\n  let row = group.x * 4u + t / 32u;\n"
               : "  let lane = t / 32u;\n  let row = group.x * 32u + t % 32u;\n";
  text += "  let line = at.a + min(row, p.m - 1u) * p.a_row;\n  var sum = 0.0;\n";
  if (is_vector(variant.a)) {
    text += "  for (var k = at.begin + lane * 4u; k < at.end; k += 4u * " + sharers + ") {\n" +
            "    let four = a[(line + k) / 4u];\n    let first = at.b + k * p.b_row;\n" +
            "    let terms = vec4<f32>(b[first], b[first + p.b_row], b[first + 2u * p.b_row], " +
            "b[first + 3u * p.b_row]);\n    sum += dot(four, " +
            (stages.prologue ? "prologue_terms(terms, at.batch, k, 0u)" : "terms") + ");\n  }\n";
  } else {
    text += "  for (var k = at.begin + lane; k < at.end; k += " + sharers + ") {\n" +
            "    sum += a[line + k * p.a_column] * " +
            element("b[at.b + k * p.b_row]", "0u", stages) + ";\n  }\n";
  }
  const std::string step = rows ? "1u" : "32u";
  text += "  sums[t] = sum;\n  workgroupBarrier();\n";
  text += "  for (var half = " + sharers + " / 2u; half > 0u; half /= 2u) {\n" +
          "    if (lane < half) { sums[t] += sums[t + half * " + step + "]; }\n" +
          "    workgroupBarrier();\n  }\n";
  text += std::string("  if (lane == 0u && row < p.m) { out[at.out + row * p.out_row] = ") +
          (stages.epilogue ? "epilogue_at(sums[t], at.batch, row, 0u)" : "sums[t]") +
          (variant.wrong ? " + 1.0" : "") + "; }\n";
  return text + "}\n";
}

}  // namespace arraycore::gemm
