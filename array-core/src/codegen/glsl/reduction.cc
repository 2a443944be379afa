// Writes the stages of reductions and scans. A Total takes whole texels of a scratch storage: two
// words for each accumulator's value, so two values in a texel.
#include "codegen/glsl/generator.h"

namespace arraycore::codegen::glsl {

using From = UniformWord::From;

std::uint32_t Generator::texels_per_total() const {
  return static_cast<std::uint32_t>(glsl::texels_per_total(k_));
}

std::string Generator::load_total(std::uint32_t k) const {
  const std::string pairs = num(2 * texels_per_total());
  std::string text = "fn load" + num(k) + "(at: i32) -> Total {\n  return Total(";
  for (std::size_t v = 0; v < k_.reduction->values.size(); ++v) {
    const DType d = accumulated(v);
    const std::string pair = load_pair(scratch(k), "(u32(at) * " + pairs + "u + " + num(v) + "u)");
    text += (v > 0 ? ", " : "") + from_bits(d, size_of(d) == 8 ? pair : pair + ".x");
  }
  return text + ");\n}\n";
}

// If neighbouring rows are nearer in memory than neighbouring elements of a row, neighbouring
// fragments compute parts of neighbouring rows.
std::string Generator::place_in_scratch() {
  return "fn place(row: i32, part: i32, count: i32) -> i32 {\n  return " +
         (plan_.columns ? "part * " + integer(From::rows) + " + row"
                        : std::string("row * count + part")) +
         ";\n}\n";
}

std::string Generator::scratch_code(std::uint32_t k) {
  const bool running = k_.reduction->running();
  const std::string length = integer(From::row_length);
  const std::string parts = division(kParts);
  const std::string count = k == 0 ? parts : division(kGroups);
  std::string text;
  if (k == 1) text += place_in_scratch() + load_total(0);
  text += "fn total_at(at: i32) -> Total {\n";
  if (plan_.columns) {
    const std::string rows = integer(From::rows);
    text += "  let part: i32 = at / " + rows + ";\n  let row: i32 = at - part * " + rows + ";\n";
  } else {
    text += "  let row: i32 = at / " + count + ";\n  let part: i32 = at - row * " + count + ";\n";
  }
  if (k == 1) {
    text += "  var total: Total = load0(place(row, part, " + parts +
            "));\n  for (var j: i32 = part + " + count + "; j < " + parts + "; j += " + count +
            ") { total = combine(total, load0(place(row, j, " + parts + "))); }\n";
  } else if (running) {
    const std::string each = division(kPartLength);
    text +=
        "  let first: i32 = part * " + each + ";\n  let end: i32 = min(first + " + each + ", " +
        length +
        ");\n  var total: Total = mapped(row, first);\n  for (var j: i32 = first + 1i; j < end; "
        "j++) { total = combine(total, mapped(row, j)); }\n";
  } else {
    text += "  var total: Total = mapped(row, part);\n  for (var j: i32 = part + " + count +
            "; j < " + length + "; j += " + count +
            ") { total = combine(total, mapped(row, j)); }\n";
  }
  text += "  return total;\n}\nfn pair_of(total: Total, v: i32) -> vec2<u32> {\n";
  for (std::size_t v = 0; v < k_.reduction->values.size(); ++v) {
    const DType d = accumulated(v);
    const std::string bits = to_bits(d, "total." + total_member(v));
    text += "  if (v == " + num(v) + "i) { return " +
            (size_of(d) == 8 ? bits : "vec2<u32>(" + bits + ", 0u)") + "; }\n";
  }
  return text + "  return vec2<u32>(0u, 0u);\n}\n";
}

std::string Generator::scratch_main(std::uint32_t k) {
  const std::string texels = num(texels_per_total());
  return begin_main(word(From::target, ir::kNone, kScratchRange + 2 * k),
                    word(From::target, ir::kNone, kScratchRange + 2 * k + 1)) +
         "  int at = texel / " + texels + ";\n  int v = 2 * (texel - at * " + texels +
         ");\n  Total total = total_at(at);\n"
         "  result = uvec4(pair_of(total, v), pair_of(total, v + 1));\n}\n";
}

std::string Generator::last_totals() {
  const std::string length = integer(From::row_length);
  const bool divided = plan_of_passes_.rows != Rows::whole;
  if (k_.reduction->running()) {
    // First come the parts before the element's own, then the elements of its own part.
    const std::string each = division(kPartLength);
    const std::string parts = division(kParts);
    std::string text = divided ? place_in_scratch() + load_total(0) : std::string();
    text += "fn running_total(row: i32, inner: i32) -> Total {\n";
    if (divided)
      text += "  let part: i32 = inner / " + each + ";\n  let first: i32 = part * " + each +
              ";\n  var total: Total = mapped(row, first);\n  if (part > 0i) {\n    var before: "
              "Total = load0(place(row, 0i, " +
              parts +
              "));\n    for (var j: i32 = 1i; j < part; j++) { before = combine(before, "
              "load0(place(row, j, " +
              parts + "))); }\n    total = combine(before, total);\n  }\n";
    else
      text += "  let first: i32 = 0i;\n  var total: Total = mapped(row, first);\n";
    return text +
           "  for (var j: i32 = first + 1i; j <= inner; j++) { total = combine(total, mapped(row, "
           "j)); }\n  return total;\n}\n";
  }
  if (!divided)
    return "fn row_total(row: i32) -> Total {\n  if (" + length + " == 0i) { return " + identity() +
           "; }\n  var total: Total = mapped(row, 0i);\n  for (var j: i32 = 1i; j < " + length +
           "; j++) { total = combine(total, mapped(row, j)); }\n  return total;\n}\n";
  const std::uint32_t k = plan_of_passes_.rows == Rows::groups ? 1 : 0;
  const std::string count = division(k == 0 ? kParts : kGroups);
  return place_in_scratch() + load_total(k) +
         "fn row_total(row: i32) -> Total {\n  var total: Total = load" + num(k) +
         "(place(row, 0i, " + count + "));\n  for (var j: i32 = 1i; j < " + count +
         "; j++) { total = combine(total, load" + num(k) + "(place(row, j, " + count +
         "))); }\n  return total;\n}\n";
}

}  // namespace arraycore::codegen::glsl
