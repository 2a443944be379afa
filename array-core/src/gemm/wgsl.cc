#include "gemm/wgsl.h"

#include "gemm/wgsl_text.h"

namespace arraycore::gemm {

namespace {

constexpr const char* kMembers = R"(struct Block {
  m: u32, n: u32, k: u32, depth: u32, splits: u32, first: u32,
  a_row: u32, a_column: u32, b_row: u32, b_column: u32, out_row: u32, out_column: u32,
  a_offset: u32, b_offset: u32, out_offset: u32,
  extent1: u32, extent2: u32, extent3: u32,
  a_batch0: u32, a_batch1: u32, a_batch2: u32, a_batch3: u32,
  b_batch0: u32, b_batch1: u32, b_batch2: u32, b_batch3: u32,
  out_batch0: u32, out_batch1: u32, out_batch2: u32, out_batch3: u32,
  part: u32, inner: u32,
)";

constexpr const char* kAxes =
    R"(  columns0: u32, columns1: u32, columns2: u32, terms0: u32, terms1: u32, terms2: u32,
  column_step0: u32, column_step1: u32, column_step2: u32,
  term_step0: u32, term_step1: u32, term_step2: u32,
  origin0: u32, origin1: u32, origin2: u32, edge0: u32, edge1: u32, edge2: u32,
  b_stride0: u32, b_stride1: u32, b_stride2: u32,
  out_stride0: u32, out_stride1: u32, out_stride2: u32,
)";

constexpr const char* kHoles = R"(  e0_offset: u32, e0_row: u32, e0_column: u32, e0_batch: u32,
  e1_offset: u32, e1_row: u32, e1_column: u32, e1_batch: u32,
  e2_offset: u32, e2_row: u32, e2_column: u32, e2_batch: u32,
  e3_offset: u32, e3_row: u32, e3_column: u32, e3_batch: u32,
  infinity: u32, nan: u32, unused0: u32, unused1: u32,
)";

const char* type_of(bool vectors) { return vectors ? "vec4<f32>" : "f32"; }

}  // namespace

// Offsets are u32 and wrap, as strides do: a negative stride is a large number.
const char* const kPlace =
    R"(struct Place { a: u32, b: u32, out: u32, begin: u32, end: u32, batch: u32 }
fn place(z: u32) -> Place {
  var batch = p.first + z / p.splits;
  let number = batch;
  let split = z % p.splits;
  let i3 = batch % p.extent3;
  batch /= p.extent3;
  let i2 = batch % p.extent2;
  batch /= p.extent2;
  let i1 = batch % p.extent1;
  let i0 = batch / p.extent1;
  let begin = split * p.depth;
  return Place(
    p.a_offset + i0 * p.a_batch0 + i1 * p.a_batch1 + i2 * p.a_batch2 + i3 * p.a_batch3,
    p.b_offset + i0 * p.b_batch0 + i1 * p.b_batch1 + i2 * p.b_batch2 + i3 * p.b_batch3,
    p.out_offset + i0 * p.out_batch0 + i1 * p.out_batch1 + i2 * p.out_batch2 +
      i3 * p.out_batch3 + split * p.part,
    begin, min(begin + p.depth, p.k), number);
}
)";

std::string block_text(int window_axes, bool stages) {
  return std::string(kMembers) + (window_axes == 0 ? "" : kAxes) + (stages ? kHoles : "") +
         "}\n@group(0) @binding(0) var<uniform> p: Block;\n";
}

std::string head(const Variant& variant, const StageText& stages) {
  std::string text =
      block_text(variant.axes, stages.prologue || stages.epilogue) +
      "@group(0) @binding(1) var<storage, read> a: array<" + type_of(is_vector(variant.a)) +
      ">;\n@group(0) @binding(2) var<storage, read> b: array<" + type_of(is_vector(variant.b)) +
      ">;\n@group(0) @binding(3) var<storage, read_write> out: array<" + type_of(variant.store4) +
      ">;\n" + kPlace + stages.functions;
  if (variant.axes > 0)
    text += window_out_text(variant.axes) + window_text(variant, stages.prologue);
  return text;
}

Result<std::string> generate(const Variant& variant, const Stages& stages) {
  TRY(const auto& stage, stage_text(stages, 4, variant.axes > 0));
  switch (variant.kind) {
    case Kind::plain:
      return plain_text(variant, stage);
    case Kind::direct:
      return direct_text(variant, stage);
    case Kind::tiled:
      return tiled_text(variant, stage);
    case Kind::rows:
    case Kind::columns:
      break;
  }
  return vector_text(variant, stage);
}

// Adds the parts of a divided sum. The parts of each product are consecutive C-ordered matrices.
Result<std::string> generate_join(int window_axes, const Stages& stages) {
  TRY(const auto& stage, stage_text(stages, 3, window_axes > 0));
  const std::string at = window_axes == 0 ? "(i % p.n) * p.out_column" : "out_of(i % p.n)";
  const std::string sum = stage.epilogue ? "epilogue_at(sum, at.batch, i / p.n, i % p.n)" : "sum";
  return block_text(window_axes, stages.any()) +
         R"(@group(0) @binding(1) var<storage, read> parts: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
)" + kPlace +
         (window_axes == 0 ? "" : window_out_text(window_axes)) + stage.functions +
         R"(@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32,
        @builtin(num_workgroups) groups: vec3<u32>) {
)" + stage.begin +
         R"(  let at = place(group.z * p.splits);
  let first = (group.z + p.first) * p.splits * p.part;
  for (var i = group.x * 64u + t; i < p.part; i += groups.x * 64u) {
    var sum = 0.0;
    for (var s = 0u; s < p.splits; s++) {
      sum += parts[first + s * p.part + i];
    }
    out[at.out + (i / p.n) * p.out_row + )" +
         at + "] = " + sum + ";\n  }\n}\n";
}

namespace {

constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kNan = 0x7fc00000;

std::uint32_t word(std::int64_t value) { return static_cast<std::uint32_t>(value); }

// Writes the window's words and returns the position after them.
std::size_t window_words(const Window& window, std::vector<std::uint32_t>& words) {
  words[31] = word(window.terms());
  std::size_t at = kUniformWords;
  for (const auto member :
       {&WindowAxis::columns, &WindowAxis::terms, &WindowAxis::column_step, &WindowAxis::term_step,
        &WindowAxis::origin, &WindowAxis::extent, &WindowAxis::b_stride, &WindowAxis::out_stride})
    for (const WindowAxis& axis : window.axes) words[at++] = word(axis.*member);
  return at;
}

}  // namespace

Stages stages_of_product(const Variant& variant, const Stages& stages) {
  Stages taken = stages;
  if (variant.split) taken.epilogue = {};
  return taken;
}

Stages stages_of_join(const Stages& stages) {
  Stages taken = stages;
  taken.prologue = {};
  return taken;
}

std::vector<std::uint32_t> uniform_words(const Problem& problem, const Choice& choice,
                                         std::uint32_t first, const Stages& stages) {
  // If the window's terms are consecutive in `a`, `a` is read as a matrix.
  const bool in_a_row = problem.window && choice.variant.a != Load::outer;
  std::vector<std::uint32_t> words{
      word(problem.m),
      word(problem.n),
      word(problem.k),
      choice.depth,
      choice.splits,
      first,
      word(problem.a.row_stride),
      in_a_row ? 1 : word(problem.a.column_stride),
      word(problem.b.row_stride),
      word(problem.b.column_stride),
      word(problem.out.row_stride),
      word(problem.out.column_stride),
      word(problem.a.offset),
      word(problem.b.offset),
      word(problem.out.offset),
  };
  words.resize(uniform_count(choice.variant.axes, stages));
  // The uniform block has kBatchAxes axes. The last ones are the batch's axes; the others have
  // extent 1.
  const int axes = problem.batch.size();
  for (int i = 1; i < kBatchAxes; ++i) {
    const int axis = axes - kBatchAxes + i;
    words[static_cast<std::size_t>(14 + i)] = axis < 0 ? 1 : word(problem.batch[axis]);
  }
  std::size_t at = 18;
  for (const Matrix* matrix : {&problem.a, &problem.b, &problem.out})
    for (int i = 0; i < kBatchAxes; ++i) {
      const int axis = axes - kBatchAxes + i;
      words[at++] = axis < 0 ? 0 : word(matrix->batch[axis]);
    }
  words[30] = word(problem.m * problem.n);
  at = kUniformWords;
  if (problem.window) at = window_words(*problem.window, words);
  if (!stages.any()) return words;
  for (const auto& operands : {stages.prologue_layouts, stages.epilogue_layouts})
    for (const OperandLayout& operand : operands)
      for (const std::int64_t value :
           {operand.offset, operand.row_stride, operand.column_stride, operand.batch_stride})
        words[at++] = word(value);
  words[at++] = kInfinity;
  words[at++] = kNan;
  return words;
}

}  // namespace arraycore::gemm
