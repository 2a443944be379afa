#include "gemm/wgsl.h"

#include "gemm/wgsl_text.h"

namespace arraycore::gemm {

namespace {

constexpr const char* kBlock = R"(struct Block {
  m: u32, n: u32, k: u32, depth: u32, splits: u32, first: u32,
  a_row: u32, a_column: u32, b_row: u32, b_column: u32, out_row: u32, out_column: u32,
  a_offset: u32, b_offset: u32, out_offset: u32,
  extent1: u32, extent2: u32, extent3: u32,
  a_batch0: u32, a_batch1: u32, a_batch2: u32, a_batch3: u32,
  b_batch0: u32, b_batch1: u32, b_batch2: u32, b_batch3: u32,
  out_batch0: u32, out_batch1: u32, out_batch2: u32, out_batch3: u32,
  part: u32, unused: u32,
}
@group(0) @binding(0) var<uniform> p: Block;
)";

// Offsets wrap as the strides do: a negative stride is a large number.
constexpr const char* kPlace = R"(struct Place { a: u32, b: u32, out: u32, begin: u32, end: u32 }
fn place(z: u32) -> Place {
  var batch = p.first + z / p.splits;
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
    begin, min(begin + p.depth, p.k));
}
)";

const char* type_of(bool vectors) { return vectors ? "vec4<f32>" : "f32"; }

}  // namespace

std::string head(bool a4, bool b4, bool out4) {
  return std::string(kBlock) + "@group(0) @binding(1) var<storage, read> a: array<" + type_of(a4) +
         ">;\n@group(0) @binding(2) var<storage, read> b: array<" + type_of(b4) +
         ">;\n@group(0) @binding(3) var<storage, read_write> out: array<" + type_of(out4) + ">;\n" +
         kPlace;
}

std::string generate(const Variant& variant) {
  switch (variant.kind) {
    case Kind::plain:
      return plain_text(variant);
    case Kind::direct:
      return direct_text(variant);
    case Kind::tiled:
      return tiled_text(variant);
    case Kind::rows:
    case Kind::columns:
      break;
  }
  return vector_text(variant);
}

// Parts lie one after the other for each batch, each a C-ordered matrix; `part` is its size.
std::string generate_join() {
  return std::string(kBlock) + R"(@group(0) @binding(1) var<storage, read> parts: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
)" + kPlace +
         R"(@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32,
        @builtin(num_workgroups) groups: vec3<u32>) {
  let at = place(group.z * p.splits);
  let first = (group.z + p.first) * p.splits * p.part;
  for (var i = group.x * 64u + t; i < p.part; i += groups.x * 64u) {
    var sum = 0.0;
    for (var s = 0u; s < p.splits; s++) {
      sum += parts[first + s * p.part + i];
    }
    out[at.out + (i / p.n) * p.out_row + (i % p.n) * p.out_column] = sum;
  }
}
)";
}

std::array<std::uint32_t, kUniformWords> uniform_words(const Problem& problem, const Choice& choice,
                                                       std::uint32_t first) {
  const auto word = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  std::array<std::uint32_t, kUniformWords> words{
      word(problem.m),
      word(problem.n),
      word(problem.k),
      choice.depth,
      choice.splits,
      first,
      word(problem.a.row_stride),
      word(problem.a.column_stride),
      word(problem.b.row_stride),
      word(problem.b.column_stride),
      word(problem.out.row_stride),
      word(problem.out.column_stride),
      word(problem.a.offset),
      word(problem.b.offset),
      word(problem.out.offset),
  };
  // The last axes of the batch, so that what is missing in front has extent 1.
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
  return words;
}

}  // namespace arraycore::gemm
