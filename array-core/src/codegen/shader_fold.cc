// Writes functions of reductions and scans: the body and `post`, and the struct Total with all
// accumulators' values.
#include "codegen/shader_generator.h"
#include "ir/op_info.h"

namespace arraycore::codegen {

using ir::Access;
using ir::Accumulator;
using ir::Id;
using ir::kNone;
using ir::Op;
using From = UniformWord::From;

std::string ShaderGenerator::reduction_bodies() {
  const ir::Reduction& r = *k_.reduction;
  if (lower::uses(k_, Op::axis_index)) missing = "the axes' indices in a reduction";
  if (lower::uses(k_, Op::loop_index)) privates_ += "var<private> s_number: i32;\n";
  if (lower::uses(k_, Op::reduce_index)) privates_ += "var<private> s_inner: i32;\n";
  std::vector<Id> shared;
  std::string total = "struct Total {\n";
  for (std::size_t v = 0; v < r.values.size(); ++v) {
    const std::string type = register_type(accumulated(v));
    total += "  " + total_member(v) + ": " + type + ",\n";
    for (const Id local : {r.values[v].mapped, r.values[v].a}) {
      privates_ += "var<private> " + local_name(k_, local) + ": " + type + ";\n";
      shared.push_back(local);
    }
  }
  privates_ += total + "}\n";
  for (Id p = 0; p < k_.params.size(); ++p)
    if (elementwise(p))
      privates_ += "var<private> p" + num(p) + ": " + register_type(param(p).dtype) + ";\n";
  std::string text = "fn map() {\n" + write_block(k_, *this, k_.body, shared) + "}\n";
  text += combine_function();
  in_post_ = true;
  text += "fn post() {\n" + write_block(k_, *this, r.post, shared) + "}\n";
  return text + run_map();
}

// Writes a function for the combining expression of each accumulator. All these functions get the
// same two Totals, so each of them reads the values from before the combination.
std::string ShaderGenerator::combine_function() {
  const auto& values = k_.reduction->values;
  std::string text;
  std::string joined;
  for (std::size_t v = 0; v < values.size(); ++v) {
    text +=
        "fn combine" + num(v) + "(x: Total, y: Total) -> " + register_type(accumulated(v)) + " {\n";
    for (std::size_t w = 0; w < values.size(); ++w)
      text += "  let " + local_name(k_, values[w].a) + ": " + register_type(accumulated(w)) +
              " = x." + total_member(w) + ";\n  let " + local_name(k_, values[w].b) + ": " +
              register_type(accumulated(w)) + " = y." + total_member(w) + ";\n";
    text += write_return(k_, *this, values[v].combine) + "}\n";
    joined += (v > 0 ? ", combine" : "combine") + num(v) + "(x, y)";
  }
  return text + "fn combine(x: Total, y: Total) -> Total { return Total(" + joined + "); }\n";
}

std::string ShaderGenerator::coordinates_of_rows() {
  return coordinates("c", "row", plan_.loop_ndim, From::outer_extent);
}

std::string ShaderGenerator::numbers() {
  std::string text;
  if (lower::uses(k_, Op::reduce_index)) text += "  s_inner = inner;\n";
  if (lower::uses(k_, Op::loop_index)) text += "  s_number = 0i" + both_steps(kNone) + ";\n";
  return text;
}

std::string ShaderGenerator::zero_mapped() const {
  std::string text;
  for (std::size_t v = 0; v < k_.reduction->values.size(); ++v)
    text += "  " + local_name(k_, k_.reduction->values[v].mapped) + " = " +
            zero_of(accumulated(v)) + ";\n";
  return text;
}

std::string ShaderGenerator::mapped_total() const {
  std::string text;
  for (const Accumulator& value : k_.reduction->values)
    text += (text.empty() ? "" : ", ") + local_name(k_, value.mapped);
  return "Total(" + text + ")";
}

std::string ShaderGenerator::run_map() {
  std::string text = "fn mapped(row: i32, inner: i32) -> Total {\n" + coordinates_of_rows();
  text +=
      coordinates("d", "inner", plan_.inner_ndim, From::inner_extent) + numbers() + zero_mapped();
  for (Id p = 0; p < k_.params.size(); ++p)
    if (elementwise(p) && param(p).access == Access::read)
      text += "  p" + num(p) + " = p" + num(p) + "_get(u32(" + integer(From::offset, p) +
              both_steps(p) + "));\n";
  return text + "  map();\n  return " + mapped_total() + ";\n}\n";
}

std::string ShaderGenerator::both_steps(Id p) {
  return steps("c", p, plan_.loop_ndim, From::outer_stride) +
         steps("d", p, plan_.inner_ndim, From::inner_stride);
}

// In a reduction finish() runs for a row. In a scan it runs for an element and also needs the
// element's mapped values.
std::string ShaderGenerator::begin_finish() {
  const ir::Reduction& r = *k_.reduction;
  std::string text = r.running() ? "fn finish(row: i32, inner: i32, total: Total, own: Total) {\n"
                                 : "fn finish(row: i32, total: Total) {\n";
  text += coordinates_of_rows();
  if (r.running()) {
    text += coordinates("d", "inner", plan_.inner_ndim, From::inner_extent) + numbers();
  } else if (lower::uses(k_, Op::loop_index)) {
    text += "  s_number = row;\n";
  }
  for (std::size_t v = 0; v < r.values.size(); ++v) {
    text += "  " + local_name(k_, r.values[v].a) + " = total." + total_member(v) + ";\n";
    if (r.running())
      text += "  " + local_name(k_, r.values[v].mapped) + " = own." + total_member(v) + ";\n";
  }
  for (Id p = 0; p < k_.params.size(); ++p) {
    if (!written(p)) continue;
    bool stopped = false;
    if (param(p).access == Access::write && always_stores(k_, r.post, p, stopped)) continue;
    text += "  p" + num(p) + " = p" + num(p) + "_get(" + row_place(p) + ");\n";
  }
  return text + "  post();\n";
}

std::string ShaderGenerator::row_place(Id p) {
  const bool running = k_.reduction->running();
  return "u32(" + integer(From::offset, p) +
         (running ? both_steps(p) : steps("c", p, plan_.loop_ndim, From::outer_stride)) + ")";
}

std::string ShaderGenerator::identity() {
  std::string text;
  for (std::size_t v = 0; v < k_.reduction->values.size(); ++v) {
    const Id id = k_.reduction->values[v].identity;
    std::string one = zero_of(accumulated(v));
    if (id != kNone) {
      const ir::Scalar value{k_.exprs[id].bits, k_.exprs[id].bits_high};
      const auto written = literal(accumulated(v), value);
      one = written ? *written : constant(accumulated(v), value);
    }
    text += (v > 0 ? ", " : "") + one;
  }
  return "Total(" + text + ")";
}

}  // namespace arraycore::codegen
