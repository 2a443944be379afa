// Writes what reductions and scans have in WGSL only: rows read in groups of four, finish() with
// its stores, and Totals in a scratch buffer.
#include "codegen/wgsl_generator.h"
#include "ir/op_info.h"

namespace arraycore::codegen {

using ir::Access;
using ir::Accumulator;
using ir::Id;
using ir::kNone;
using ir::Op;
using From = UniformWord::From;

std::string Generator::run_fours() {
  // In rows with several axes, the elements of a group of four are neighbours on the last axis.
  const bool along_one = plan_.inner_ndim == 1;
  std::string text = "fn fours(row: i32, first: i32) -> Total {\n" + coordinates_of_rows();
  if (!along_one) text += coordinates("d", "first", plan_.inner_ndim, From::inner_extent);
  for (Id p = 0; p < k_.params.size(); ++p) {
    if (!grouped(p)) continue;
    const std::size_t size = size_of(param(p).dtype);
    const std::string q = "q" + num(p);
    text += "  let " + q + " = u32(" + integer(From::offset, p) +
            (along_one ? steps("c", p, plan_.loop_ndim, From::outer_stride) + " + first"
                       : both_steps(p)) +
            ")" +
            (size == 4   ? ""
             : size == 2 ? " >> 1u"
                         : " >> 2u") +
            ";\n  let " + q + "w = " + group_words(p, q) + ";\n";
  }
  text += "  var total: Total;\n";
  for (std::uint32_t k = 0; k < 4; ++k) {
    text += "  {\n  let inner = first + " + num(k) + "i;\n" +
            coordinates("d", "inner", plan_.inner_ndim, From::inner_extent) + numbers() +
            zero_mapped();
    for (Id p = 0; p < k_.params.size(); ++p) {
      if (!elementwise(p) || param(p).access != Access::read) continue;
      text += "  p" + num(p) + " = " +
              (grouped(p)
                   ? lane_of_group(p, k)
                   : "p" + num(p) + "_get(u32(" + integer(From::offset, p) + both_steps(p) + "))") +
              ";\n";
    }
    text += "  map();\n  total = " +
            (k == 0 ? mapped_total() : "combine(total, " + mapped_total() + ")") + ";\n  }\n";
  }
  return text + "  return total;\n}\n";
}

std::string Generator::run_post() {
  std::string text = begin_finish();
  for (Id p = 0; p < k_.params.size(); ++p)
    if (written(p)) text += "  p" + num(p) + "_set(" + row_place(p) + ", p" + num(p) + ");\n";
  return text + "}\n";
}

std::string Generator::lanes_array() const {
  return "var<workgroup> lanes: array<Total, " + num(plan_.workgroup) + ">;\n";
}

std::string Generator::load_scratch(const std::string& place) const {
  const std::size_t count = k_.reduction->values.size();
  std::string text;
  for (std::size_t v = 0; v < count; ++v) {
    const DType d = accumulated(v);
    const std::string pair = "scratch[(" + place + ") * " + num(count) + "u + " + num(v) + "u]";
    text += (v > 0 ? ", " : "") + from_bits(d, size_of(d) == 8 ? pair : pair + ".x");
  }
  return "Total(" + text + ")";
}

std::string Generator::store_scratch(const std::string& place, const std::string& total) const {
  const std::size_t count = k_.reduction->values.size();
  std::string text;
  for (std::size_t v = 0; v < count; ++v) {
    const DType d = accumulated(v);
    const std::string bits = to_bits(d, total + "." + total_member(v));
    text += "scratch[(" + place + ") * " + num(count) + "u + " + num(v) +
            "u] = " + (size_of(d) == 8 ? bits : "vec2<u32>(" + bits + ", 0u)") + "; ";
  }
  return text;
}

}  // namespace arraycore::codegen
