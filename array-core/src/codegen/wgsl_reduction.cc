// Writes the entry points of reductions. `lanes` lanes of a workgroup compute one row together. If
// neighbouring rows are nearer in memory than a row's elements (`columns`), neighbouring
// invocations compute neighbouring rows. If several workgroups share a row, each stores its total
// in the scratch buffer, and a second dispatch combines the totals.
#include "codegen/wgsl_generator.h"

namespace arraycore::codegen {

using From = UniformWord::From;

std::string Generator::strided_total(const std::string& first, const std::string& stride) {
  const std::string one = plan_.quads ? "unit_total(row, " : "mapped(row, ";
  return "  var total = " + identity() + ";\n  if (" + first + " < count) {\n    total = " + one +
         first + ");\n    for (var j = " + first + " + " + stride + "; j < count; j += " + stride +
         ") { total = combine(total, " + one + "j)); }\n  }\n";
}

std::string Generator::tree(std::uint32_t lanes, std::uint32_t step, const std::string& own,
                            const std::string& valid) const {
  return "  lanes[lid] = total;\n  workgroupBarrier();\n  for (var half = " + num(lanes / 2) +
         "u; half > 0u; half >>= 1u) {\n    if (" + own + " < half && " + own + " + half < " +
         valid + ") { lanes[lid] = combine(lanes[lid], lanes[lid + half * " + num(step) +
         "u]); }\n    workgroupBarrier();\n  }\n";
}

std::string Generator::rows_main() {
  const std::string lanes = num(plan_.lanes);
  const std::string across = num(plan_.across());
  const bool split = plan_.rows == Rows::split;
  const std::string parts = split ? word(From::parts) : "1u";
  const std::string length = integer(From::row_length);
  const std::string rows = word(From::rows);
  std::string text;
  std::string units = length;
  if (plan_.quads) {
    // The last unit of a row may have fewer than four elements.
    text +=
        "fn unit_total(row: i32, unit: i32) -> Total {\n  let first = unit * 4i;\n  if (first "
        "+ 4i <= " +
        length + ") { return fours(row, first); }\n  var total = mapped(row, first);\n" +
        "  for (var inner = first + 1i; inner < " + length +
        "; inner++) { total = combine(total, mapped(row, inner)); }\n  return total;\n}\n";
    units = "(" + length + " + 3i) / 4i";
  }
  const std::string own = plan_.columns ? "lid / " + across + "u" : "lid % " + lanes + "u";
  const std::string mine = plan_.columns ? "lid % " + across + "u" : "lid / " + lanes + "u";
  std::string body = "  let part = group % " + parts + ";\n  let wanted = (group / " + parts +
                     ") * " + across + "u + " + mine + ";\n  if ((group / " + parts + ") * " +
                     across + "u >= " + rows + ") { return; }\n";
  // Lanes without a row have no elements, but run too, because all lanes must reach barriers.
  body += "  let row = i32(min(wanted, " + rows + " - 1u));\n  let own = " + own +
          ";\n  let units = " + units + ";\n  let first = i32(part * " + lanes + "u + own);\n";
  body += "  let count = select(0i, units, wanted < " + rows + ");\n";
  body += strided_total("first", "i32(" + parts + " * " + lanes + "u)");
  std::string result = "total";
  if (plan_.lanes > 1) {
    text += lanes_array();
    body += "  let valid = u32(clamp(units - i32(part * " + lanes + "u), 0i, " + lanes + "i));\n" +
            tree(plan_.lanes, plan_.columns ? plan_.across() : 1, "own", "valid");
    result = "lanes[lid]";
  }
  body += "  if (own == 0u && wanted < " + rows + ") {\n    let whole = " + result + ";\n    " +
          (split ? store_scratch("wanted * " + parts + " + part", "whole")
                 : std::string("finish(row, whole);")) +
          "\n  }\n";
  return text + entry(body);
}

std::string Generator::join_main() {
  const std::string parts = word(From::parts);
  const std::string w = num(plan_.workgroup);
  return lanes_array() +
         entry("  if (group >= " + word(From::rows) + ") { return; }\n  let valid = min(" + w +
               "u, " + parts + ");\n  var total = " + identity() +
               ";\n  if (lid < valid) { total = " + load_scratch("group * " + parts + " + lid") +
               "; }\n  for (var j = lid + " + w + "u; j < " + parts + "; j += " + w +
               "u) { total = combine(total, " + load_scratch("group * " + parts + " + j") +
               "); }\n" + tree(plan_.workgroup, 1, "lid", "valid") +
               "  if (lid == 0u) { finish(i32(group), lanes[0]); }\n");
}

}  // namespace arraycore::codegen
