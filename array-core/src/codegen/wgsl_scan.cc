// Writes the entry points of scans. In the simplest one, one invocation scans a row. In another,
// one workgroup scans a row tile by tile, and in each tile it scans the totals of its lanes. In the
// third, each of several workgroups has a part of a row. Three dispatches compute the total of each
// part, scan these totals, and scan each part's tiles, starting from the total of earlier parts.
#include "codegen/wgsl_generator.h"

namespace arraycore::codegen {

using From = UniformWord::From;

namespace {

constexpr std::uint32_t kOwn = 4;  // the neighbouring elements of a tile that one lane scans

}  // namespace

std::vector<std::string> Generator::scan_mains() {
  if (plan_.rows == Rows::thread) return {thread_scan()};
  if (plan_.rows == Rows::group) return {scan_tiles()};
  return {part_totals(), scan_totals(), scan_tiles()};
}

std::string Generator::thread_scan() {
  return entry("  if (thread >= " + word(From::rows) +
               ") { return; }\n  let row = i32(thread);\n  var total = mapped(row, 0i);\n  "
               "finish(row, 0i, total, total);\n  for (var j = 1i; j < " +
               integer(From::row_length) +
               "; j++) {\n    let own = mapped(row, j);\n    total = combine(total, own);\n    "
               "finish(row, j, total, own);\n  }\n");
}

// Returns code after which lanes[l] holds the total of the lanes 0 to l.
std::string Generator::scan_lanes() const {
  return "    workgroupBarrier();\n    for (var step = 1u; step < " + num(plan_.workgroup) +
         "u; step <<= 1u) {\n      var joined = lanes[lid];\n      if (lid >= step) { joined = "
         "combine(lanes[lid - step], joined); }\n      workgroupBarrier();\n      lanes[lid] = "
         "joined;\n      workgroupBarrier();\n    }\n";
}

std::string Generator::part_totals() {
  const std::string parts = word(From::parts);
  const std::string tile = num(plan_.workgroup * kOwn);
  std::string body = "  if (group >= " + word(From::rows) + " * " + parts +
                     ") { return; }\n  let row = i32(group / " + parts +
                     ");\n  let begin = i32(group % " + parts + ") * " +
                     integer(From::part_length) + ";\n  let end = min(begin + " +
                     integer(From::part_length) + ", " + integer(From::row_length) + ");\n";
  // Adds up the elements of the part. Each lane takes the same positions in every tile.
  body += "  var total = " + identity() + ";\n  let first = begin + i32(lid) * " + num(kOwn) +
          "i;\n  for (var tile = first; tile < end; tile += " + tile +
          "i) {\n    for (var j = tile; j < min(tile + " + num(kOwn) +
          "i, end); j++) {\n      if (j == first) { total = mapped(row, j); } else { total = "
          "combine(total, mapped(row, j)); }\n    }\n  }\n";
  body += "  let valid = min(" + num(plan_.workgroup) + "u, u32(end - begin + " + num(kOwn - 1) +
          "i) / " + num(kOwn) + "u);\n" + tree(plan_.workgroup, 1, "lid", "valid") +
          "  if (lid == 0u) {\n    let whole = lanes[0];\n    " + store_scratch("group", "whole") +
          "\n  }\n";
  return lanes_array() + entry(body);
}

// Scans the totals of a row's parts. A row has at most as many parts as a tile has elements.
std::string Generator::scan_totals() {
  const std::string parts = word(From::parts);
  std::string body =
      "  if (group >= " + word(From::rows) + ") { return; }\n  let first = lid * " + num(kOwn) +
      "u;\n  let end = min(first + " + num(kOwn) + "u, " + parts +
      ");\n  var total = " + identity() +
      ";\n  if (first < end) {\n    total = " + load_scratch("group * " + parts + " + first") +
      ";\n    for (var j = first + 1u; j < end; j++) { total = combine(total, " +
      load_scratch("group * " + parts + " + j") + "); }\n  }\n  lanes[lid] = total;\n" +
      scan_lanes();
  body += "  for (var j = first; j < end; j++) {\n    var running = " +
          load_scratch("group * " + parts + " + j") +
          ";\n    if (j > first) { running = combine(total, running); } else if (lid > 0u) { "
          "running = combine(lanes[lid - 1u], running); }\n    total = running;\n    " +
          store_scratch("group * " + parts + " + j", "running") + "\n  }\n";
  return lanes_array() + entry(body);
}

std::string Generator::scan_tiles() {
  const bool split = plan_.rows == Rows::split;
  const std::string tile = num(plan_.workgroup * kOwn);
  const std::string length = integer(From::row_length);
  std::string body;
  if (split) {
    const std::string parts = word(From::parts);
    const std::string part_length = integer(From::part_length);
    body = "  if (group >= " + word(From::rows) + " * " + parts +
           ") { return; }\n  let row = i32(group / " + parts + ");\n  let part = group % " + parts +
           ";\n  let begin = i32(part) * " + part_length + ";\n  let end = min(begin + " +
           part_length + ", " + length +
           ");\n  var before = part > 0u;\n  var carry = " + identity() +
           ";\n  if (before) { carry = " + load_scratch("group - 1u") + "; }\n";
  } else {
    body = "  if (group >= " + word(From::rows) +
           ") { return; }\n  let row = i32(group);\n  let begin = 0i;\n  let end = " + length +
           ";\n  var before = false;\n  var carry = " + identity() + ";\n";
  }
  body += "  for (var tile = begin; tile < end; tile += " + tile +
          "i) {\n    let first = tile + i32(lid) * " + num(kOwn) +
          "i;\n    var own: array<Total, " + num(kOwn) + ">;\n    var total = " + identity() +
          ";\n    for (var k = 0i; k < " + num(kOwn) +
          "i; k++) {\n      if (first + k < end) {\n        own[k] = mapped(row, first + k);\n     "
          "   if (k == 0i) { total = own[k]; } else { total = combine(total, own[k]); }\n      "
          "}\n    }\n    lanes[lid] = total;\n" +
          scan_lanes();
  // `running` begins as the total of all elements before the lane's own: `carry` is the total of
  // the earlier tiles, and lanes[lid - 1] that of the earlier lanes in this tile.
  body +=
      "    var some = before;\n    var running = carry;\n    if (lid > 0u) {\n      running = "
      "lanes[lid - 1u];\n      if (before) { running = combine(carry, running); }\n      some "
      "= true;\n    }\n    for (var k = 0i; k < " +
      num(kOwn) +
      "i; k++) {\n      if (first + k < end) {\n        if (some) { running = combine(running, "
      "own[k]); } else { running = own[k]; }\n        some = true;\n        finish(row, first "
      "+ k, running, own[k]);\n      }\n    }\n    let last = lanes[" +
      num(plan_.workgroup - 1) +
      "];\n    if (before) { carry = combine(carry, last); } else { carry = last; }\n    "
      "before = true;\n    workgroupBarrier();\n  }\n";
  return lanes_array() + entry(body);
}

}  // namespace arraycore::codegen
