// Writes entry points of elementwise kernels. An invocation computes one element, or four.
#include "codegen/wgsl_generator.h"
#include "ir/op_info.h"

namespace arraycore::codegen {

using ir::Access;
using ir::Id;
using ir::Kernel;
using ir::kNone;
using ir::Op;
using ir::Param;
using ir::ParamKind;
using From = UniformWord::From;

std::string Generator::one_element(const std::string& number) {
  std::string text = compute_element(number);
  for (Id p = 0; p < k_.params.size(); ++p)
    if (written(p)) text += "  p" + num(p) + "_set(" + place(p, number) + ", p" + num(p) + ");\n";
  return text;
}

std::string Generator::entry(const std::string& body) const {
  return "@compute @workgroup_size(" + num(plan_.workgroup) +
         ")\nfn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) nwg: "
         "vec3<u32>,\n    @builtin(local_invocation_index) lid: u32) {\n  let group = wid.y * "
         "nwg.x + wid.x;\n  let thread = group * " +
         num(plan_.workgroup) + "u + lid;\n" + body + "}\n";
}

std::string Generator::single_main() {
  return "fn run_one(number: i32) {\n" + one_element("number") + "}\n" +
         entry("  if (thread >= " + word(From::loop_size) +
               ") { return; }\n  run_one(i32(thread));\n");
}

bool Generator::grouped(Id p) const {
  return elementwise(p) && own(p).aligned && size_of(param(p).dtype) <= 4;
}

std::string Generator::quad_main() {
  std::string text = "fn run_one(number: i32) {\n" + one_element("number") + "}\n";
  const std::string n = word(From::loop_size);
  std::string body = "  let first = thread * 4u;\n  if (first >= " + n + ") { return; }\n";
  body += "  if (first + 4u > " + n + ") {\n    for (var k = first; k < " + n +
          "; k++) { run_one(i32(k)); }\n    return;\n  }\n";
  for (Id p = 0; p < k_.params.size(); ++p) {
    if (!grouped(p)) continue;
    const std::string at = "q" + num(p);
    // The index of the group's word in the binding. An element of 2 or 1 bytes is a part of a word.
    const std::size_t size = size_of(param(p).dtype);
    body += "  let " + at + " = (" + word(From::offset, p) + " + first)" +
            (size == 4   ? ""
             : size == 2 ? " >> 1u"
                         : " >> 2u") +
            ";\n";
    if (preloads(p)) body += "  let " + at + "w = " + group_words(p, at) + ";\n";
    if (written(p)) body += "  var " + at + "r: vec4<u32>;\n";
  }
  for (std::uint32_t k = 0; k < 4; ++k) body += quad_lane(k);
  for (Id p = 0; p < k_.params.size(); ++p)
    if (grouped(p) && written(p)) body += store_group(p);
  return text + entry(body);
}

std::string Generator::group_words(Id p, const std::string& at) const {
  const std::uint32_t slot = own(p).slot;
  switch (size_of(param(p).dtype)) {
    case 1:
      return load_word(slot, at);
    case 2:
      return "vec2<u32>(" + load_word(slot, at) + ", " + load_word(slot, at + " + 1u") + ")";
    default:
      if (plan_.slots[slot].vectors) return "b" + num(slot) + "[" + at + " >> 2u]";
      return "vec4<u32>(" + load_word(slot, at) + ", " + load_word(slot, at + " + 1u") + ", " +
             load_word(slot, at + " + 2u") + ", " + load_word(slot, at + " + 3u") + ")";
  }
}

std::string Generator::lane_of_group(Id p, std::uint32_t k) const {
  const DType d = param(p).dtype;
  const std::string w = "q" + num(p) + "w";
  switch (size_of(d)) {
    case 1:
      return from_bits(d, "((" + w + " >> " + num(k * 8) + "u) & 0xffu)");
    case 2:
      return from_bits(d,
                       "((" + w + "." + "xy"[k / 2] + " >> " + num(k % 2 * 16) + "u) & 0xffffu)");
    default:
      return from_bits(d, w + "." + "xyzw"[k]);
  }
}

std::string Generator::quad_lane(std::uint32_t k) {
  std::string text = "  {\n  let number = i32(first + " + num(k) + "u);\n";
  if (needs_coordinates()) text += coordinates("c", "number", plan_.loop_ndim, From::outer_extent);
  if (uses_axes_)
    for (std::uint32_t a = 0; a < plan_.loop_ndim; ++a)
      text += "  s_c" + num(a) + " = c" + num(a) + ";\n";
  if (lower::uses(k_, Op::loop_index)) text += "  s_number = number;\n";
  for (Id p = 0; p < k_.params.size(); ++p) {
    if (!elementwise(p) || !preloads(p)) continue;
    text += "  p" + num(p) + " = " +
            (grouped(p) ? lane_of_group(p, k) : "p" + num(p) + "_get(" + place(p, "number") + ")") +
            ";\n";
  }
  text += "  element();\n";
  for (Id p = 0; p < k_.params.size(); ++p) {
    if (!written(p)) continue;
    const std::string v = "p" + num(p);
    text += grouped(p)
                ? "  q" + num(p) + "r." + "xyzw"[k] + " = " + to_bits(param(p).dtype, v) + ";\n"
                : "  " + v + "_set(" + place(p, "number") + ", " + v + ");\n";
  }
  return text + "  }\n";
}

std::string Generator::store_group(Id p) const {
  const std::uint32_t slot = own(p).slot;
  const std::string q = "q" + num(p);
  const auto lane = [&](int k) { return q + "r." + "xyzw"[k]; };
  switch (size_of(param(p).dtype)) {
    case 1:
      return "  " +
             store_word(slot, q,
                        lane(0) + " | (" + lane(1) + " << 8u) | (" + lane(2) + " << 16u) | (" +
                            lane(3) + " << 24u)") +
             "\n";
    case 2:
      return "  " + store_word(slot, q, lane(0) + " | (" + lane(1) + " << 16u)") + "\n  " +
             store_word(slot, q + " + 1u", lane(2) + " | (" + lane(3) + " << 16u)") + "\n";
    default:
      break;
  }
  if (plan_.slots[slot].vectors) return "  b" + num(slot) + "[" + q + " >> 2u] = " + q + "r;\n";
  std::string text;
  for (int k = 0; k < 4; ++k)
    text += "  " + store_word(slot, q + " + " + num(static_cast<std::uint64_t>(k)) + "u", lane(k)) +
            "\n";
  return text;
}

}  // namespace arraycore::codegen
