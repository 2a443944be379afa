// Entry points of reductions: a row an invocation, a row a workgroup, or a row split among several.
#include "codegen/wgsl_generator.h"

namespace arraycore::codegen {

using ir::Access;
using ir::Id;
using ir::kNone;
using ir::Op;
using From = UniformWord::From;

DType Generator::reduced_type() const { return k_.locals[k_.reduction->a].type; }

std::string Generator::reduction_bodies() {
  const ir::Reduction& r = *k_.reduction;
  const std::string t = register_type(reduced_type());
  if (lower::uses(k_, Op::axis_index)) missing = "the axes' indices in a reduction";
  privates_ += "var<private> s_number: i32;\nvar<private> s_inner: i32;\n";
  privates_ += "var<private> " + local_name(k_, r.mapped) + ": " + t + ";\n";
  privates_ += "var<private> " + local_name(k_, r.a) + ": " + t + ";\n";
  for (Id p = 0; p < k_.params.size(); ++p)
    if (elementwise(p))
      privates_ += "var<private> p" + num(p) + ": " + register_type(param(p).dtype) + ";\n";
  std::string text = "fn map() {\n" + write_block(k_, *this, k_.body, {r.mapped, r.a}) + "}\n";
  text += "fn combine(x: " + t + ", y: " + t + ") -> " + t + " {\n  let " + local_name(k_, r.a) +
          " = x;\n  let " + local_name(k_, r.b) + " = y;\n" + write_return(k_, *this, r.combine) +
          "}\n";
  in_post_ = true;
  text += "fn post() {\n" + write_block(k_, *this, r.post, {r.mapped, r.a}) + "}\n";
  text += run_map() + run_post();
  return text;
}

std::string Generator::run_map() {
  const ir::Reduction& r = *k_.reduction;
  std::string text = "fn mapped(row: i32, inner: i32) -> " + register_type(reduced_type()) + " {\n";
  text += coordinates("c", "row", plan_.loop_ndim, From::outer_extent);
  text += coordinates("d", "inner", plan_.inner_ndim, From::inner_extent);
  text += "  s_inner = inner;\n  s_number = 0i" + both_steps(kNone) + ";\n";
  text += "  " + local_name(k_, r.mapped) + " = " + zero_of(reduced_type()) + ";\n";
  for (Id p = 0; p < k_.params.size(); ++p)
    if (elementwise(p) && param(p).access == Access::read)
      text += "  p" + num(p) + " = p" + num(p) + "_get(u32(" + integer(From::offset, p) +
              both_steps(p) + "));\n";
  return text + "  map();\n  return " + local_name(k_, r.mapped) + ";\n}\n";
}

std::string Generator::both_steps(Id p) {
  return steps("c", p, plan_.loop_ndim, From::outer_stride) +
         steps("d", p, plan_.inner_ndim, From::inner_stride);
}

std::string Generator::run_post() {
  const ir::Reduction& r = *k_.reduction;
  std::string text = "fn finish(row: i32, total: " + register_type(reduced_type()) + ") {\n";
  text += coordinates("c", "row", plan_.loop_ndim, From::outer_extent);
  text += "  s_number = row;\n  " + local_name(k_, r.a) + " = total;\n";
  for (Id p = 0; p < k_.params.size(); ++p) {
    if (!written(p)) continue;
    bool stopped = false;
    if (param(p).access == Access::write && always_stores(k_, r.post, p, stopped)) continue;
    text += "  p" + num(p) + " = p" + num(p) + "_get(" + row_place(p) + ");\n";
  }
  text += "  post();\n";
  for (Id p = 0; p < k_.params.size(); ++p)
    if (written(p)) text += "  p" + num(p) + "_set(" + row_place(p) + ", p" + num(p) + ");\n";
  return text + "}\n";
}

std::string Generator::row_place(Id p) {
  return "u32(" + integer(From::offset, p) + steps("c", p, plan_.loop_ndim, From::outer_stride) +
         ")";
}

std::string Generator::identity() {
  const Id id = k_.reduction->identity;
  if (id == kNone) return zero_of(reduced_type());
  const ir::Scalar value{k_.exprs[id].bits, k_.exprs[id].bits_high};
  const auto text = literal(reduced_type(), value);
  return text ? *text : constant(reduced_type(), value);
}

std::string Generator::strided_sum(const std::string& first, const std::string& stride) {
  return "  let length = " + integer(From::row_length) + ";\n  var total = " + identity() +
         ";\n  let some = " + first + " < length;\n  if (some) {\n    total = mapped(row, " +
         first + ");\n    for (var j = " + first + " + " + stride + "; j < length; j += " + stride +
         ") { total = combine(total, mapped(row, j)); }\n  }\n";
}

std::string Generator::thread_main() {
  return entry("  if (thread >= " + word(From::rows) + ") { return; }\n  let row = i32(thread);\n" +
               strided_sum("0i", "1i") + "  finish(row, total);\n");
}

std::string Generator::tree(const std::string& valid) const {
  const std::string half = num(plan_.workgroup / 2);
  return "  lanes[lid] = total;\n  workgroupBarrier();\n  for (var step = " + half +
         "u; step > 0u; step >>= 1u) {\n    if (lid < step && lid + step < " + valid +
         ") { lanes[lid] = combine(lanes[lid], lanes[lid + step]); }\n    workgroupBarrier();\n  "
         "}\n";
}

std::string Generator::lanes() const {
  return "var<workgroup> lanes: array<" + register_type(reduced_type()) + ", " +
         num(plan_.workgroup) + ">;\n";
}

std::string Generator::group_main() {
  const std::string w = num(plan_.workgroup);
  return lanes() +
         entry("  if (group >= " + word(From::rows) + ") { return; }\n  let row = i32(group);\n" +
               strided_sum("i32(lid)", w + "i") + "  let valid = min(" + w + "u, u32(length));\n" +
               tree("valid") + "  if (lid == 0u) { finish(row, lanes[0]); }\n");
}

std::string Generator::split_main() {
  const std::string w = num(plan_.workgroup);
  const std::string parts = num(plan_.parts);
  const DType d = reduced_type();
  const std::string bits =
      size_of(d) == 8 ? to_bits(d, "lanes[0]") : "vec2<u32>(" + to_bits(d, "lanes[0]") + ", 0u)";
  // Rows are long here (see make_plan), so every invocation of every part has an element.
  return lanes() + entry("  if (group >= " + word(From::rows) + " * " + parts +
                         "u) { return; }\n  let row = i32(group / " + parts +
                         "u);\n  let start = i32((group % " + parts + "u) * " + w + "u + lid);\n" +
                         strided_sum("start", num(plan_.parts * plan_.workgroup) + "i") +
                         tree(w + "u") + "  if (lid == 0u) { scratch[group] = " + bits + "; }\n");
}

std::string Generator::join_main() {
  const std::string parts = num(plan_.parts);
  const DType d = reduced_type();
  const std::string word_pair = "scratch[group * " + parts + "u + lid]";
  const std::string value = from_bits(d, size_of(d) == 8 ? word_pair : word_pair + ".x");
  return lanes() +
         entry("  if (group >= " + word(From::rows) + ") { return; }\n  var total = " + identity() +
               ";\n  if (lid < " + parts + "u) { total = " + value + "; }\n" +
               "  for (var j = lid + " + num(plan_.workgroup) + "u; j < " + parts +
               "u; j += " + num(plan_.workgroup) + "u) {\n    total = combine(total, " +
               from_bits(d, size_of(d) == 8 ? "scratch[group * " + parts + "u + j]"
                                            : "scratch[group * " + parts + "u + j].x") +
               ");\n  }\n" + tree("min(" + num(plan_.workgroup) + "u, " + parts + "u)") +
               "  if (lid == 0u) { finish(i32(group), lanes[0]); }\n");
}

}  // namespace arraycore::codegen
