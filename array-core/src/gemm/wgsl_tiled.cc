// The shader that shares tiles of both operands in workgroup memory. Each invocation fetches some
// vectors of four elements of both tiles, and has a block of the result in registers.
//
// Lines (rows of a, columns of b) beyond the last one are replaced by the last line, so that only
// the last tiles of the sum need bounds checks. The results of such lines are never stored.
#include "gemm/wgsl_text.h"

namespace arraycore::gemm {

namespace {

// Writes the WGSL for the tile of one operand. The names in the WGSL begin with `a` or `b`.
struct Side {
  std::string name;
  Load load;
  std::uint32_t lines;   // of the tile
  std::uint32_t groups;  // groups of four lines in an invocation's block
  std::uint32_t depth;
  std::uint32_t threads;
  std::string line_stride;
  std::string term_stride;
  std::string most;   // the number of lines of the matrix
  std::string first;  // the first line of the tile
  std::string lane;   // the invocation's position along the lines
  // If true, the code that fetches this operand applies the prologue. It is false with a window,
  // because the function that reads b through the window applies the prologue.
  bool prologue = false;
  bool by_term = false;  // for `a`: it is read at the same Term as `b`

  // Returns whether the tile consists of single elements instead of vectors.
  bool scalars() const { return load == Load::terms4; }
  std::uint32_t fetches() const { return lines * depth / 4 / threads; }
  std::string slot(std::uint32_t s) const { return name + "_" + std::to_string(s); }
  std::string tile() const { return "tile_" + name; }

  std::string declaration() const {
    const std::string inner =
        scalars() ? "array<f32, " + u(lines) + ">" : "array<vec4<f32>, " + u(lines / 4) + ">";
    return "var<workgroup> " + tile() + ": array<" + inner + ", " + u(depth) + ">;\n";
  }

  // Returns code that computes two things for each fetch: the address that it reads for the first
  // term, and where in the tile it stores the value.
  std::string places() const {
    std::string text;
    for (std::uint32_t s = 0; s < fetches(); ++s) {
      const std::string q = "(t + " + u(s * threads) + ")";
      const std::string at = slot(s);
      const bool terms_first = load == Load::terms4 || load == Load::terms || load == Load::outer ||
                               load == Load::window_terms;
      const std::string along = load == Load::terms4 ? u(depth / 4)
                                : terms_first        ? u(depth)
                                                     : u(lines / 4);
      text += "  let " + at + "_term = " + q + (terms_first ? " % " : " / ") + along + ";\n";
      text += "  let " + at + "_line = " + q + (terms_first ? " / " : " % ") + along + ";\n";
      if (load == Load::terms4) {
        text += "  let " + at + "_at = (at." + name + " + min(" + first + " + " + at + "_line, " +
                most + " - 1u) * " + line_stride + ") / 4u + " + at + "_term;\n";
      } else if (load == Load::lines4) {
        text += "  let " + at + "_at = at." + name + " / 4u + min(" + first + " / 4u + " + at +
                "_line, (" + most + " - 1u) / 4u) + " + at + "_term * (" + term_stride +
                " / 4u);\n";
      } else {
        for (int j = 0; j < 4; ++j) {
          const std::string line = "min(" + first + " + " + at + "_line * 4u + " +
                                   u(static_cast<std::uint64_t>(j)) + ", " + most + " - 1u)";
          text += "  let " + at + "_at" + std::to_string(j) + " = ";
          if (is_window(load))
            text += "column_of(" + line + ");\n";
          else if (load == Load::outer)
            text += "at." + name + " + " + line + " * " + line_stride + ";\n";
          else
            text += "at." + name + " + " + line + " * " + line_stride + " + " + at + "_term * " +
                    term_stride + ";\n";
        }
      }
      text += "  var " + at + " = vec4<f32>();\n";
    }
    return text;
  }

  // Returns the vector that fetch `s` reads for the tiles that begin with term `k`.
  std::string fetched(std::uint32_t s, const std::string& k) const {
    const std::string at = slot(s);
    if (load == Load::terms4) return name + "[" + at + "_at + " + k + " / 4u]";
    if (load == Load::lines4)
      return name + "[" + at + "_at + " + k + " * (" + term_stride + " / 4u)]";
    if (is_window(load))
      return "window4(at, " + at + "_at0, " + at + "_at1, " + at + "_at2, " + at + "_at3, " +
             (load == Load::window ? k + " + " + at + "_term)" : std::string("term)"));
    const std::string step = by_term               ? "a_term"
                             : load == Load::outer ? "a_of(" + k + " + " + at + "_term)"
                                                   : k + " * " + term_stride;
    std::string text = "vec4<f32>(";
    for (int j = 0; j < 4; ++j)
      text +=
          (j > 0 ? ", " : "") + name + "[" + at + "_at" + std::to_string(j) + " + " + step + "]";
    return text + ")";
  }

  // Returns the vector of fetched() after the prologue, if there is one.
  std::string taken(std::uint32_t s, const std::string& k) const {
    if (!prologue || is_window(load)) return fetched(s, k);
    const std::string at = slot(s);
    const bool terms = load == Load::terms4;
    return std::string(terms ? "prologue_terms(" : "prologue_lines(") + fetched(s, k) +
           ", at.batch, " + k + " + " + at + "_term" + (terms ? " * 4u, " : ", ") + first + " + " +
           at + "_line" + (terms ? ")" : " * 4u)");
  }

  std::string fetch(const std::string& k, bool guarded, const std::string& indent) const {
    std::string text;
    for (std::uint32_t s = 0; s < fetches(); ++s) {
      if (!guarded) {
        text += indent + slot(s) + " = " + taken(s, k) + ";\n";
        continue;
      }
      const std::string term = slot(s) + "_term" + (load == Load::terms4 ? " * 4u" : "");
      text += indent + slot(s) + " = vec4<f32>();\n" + indent + "if (" + k + " + " + term +
              " < at.end) { " + slot(s) + " = " + taken(s, k) + "; }\n";
    }
    return text;
  }

  std::string share() const {
    std::string text;
    for (std::uint32_t s = 0; s < fetches(); ++s) {
      const std::string at = slot(s);
      if (!scalars()) {
        text += "    " + tile() + "[" + at + "_term][" + at + "_line] = " + at + ";\n";
        continue;
      }
      for (int j = 0; j < 4; ++j)
        text += "    " + tile() + "[" + at + "_term * 4u + " + u(static_cast<std::uint64_t>(j)) +
                "][" + at + "_line] = " + at + "." + "xyzw"[j] + ";\n";
    }
    return text;
  }

  // Returns code that loads the lines of the invocation's block at term `i` of the tile. Each group
  // of four lines becomes a variable `name`v`group`.
  std::string take() const {
    std::string text;
    for (std::uint32_t g = 0; g < groups; ++g) {
      text += "      let " + name + "v" + std::to_string(g) + " = ";
      if (!scalars()) {
        text += tile() + "[i][" + lane + " + " + u(g * (lines / 4 / groups)) + "];\n";
        continue;
      }
      text += "vec4<f32>(";
      for (std::uint32_t j = 0; j < 4; ++j)
        text += (j > 0 ? ", " : "") + tile() + "[i][" + lane + " * 4u + " +
                u(g * (lines / groups) + j) + "]";
      text += ");\n";
    }
    return text;
  }
};

std::string fetch_both(const Side& a, const Side& b, const std::string& k, std::uint32_t depth,
                       const std::string& indent) {
  std::string text;
  if (b.load == Load::window_terms) {
    const std::string number = k + " + " + b.slot(0) + "_term";
    text += indent + "let term = term_of(" + number + ");\n";
    if (a.by_term)
      text += indent + "let a_term = term.outer * p.a_column + " + number +
              " - term.outer * p.inner;\n";
  }
  return text + indent + "if (" + k + " + " + u(depth) + " <= at.end) {\n" +
         a.fetch(k, false, indent + "  ") + b.fetch(k, false, indent + "  ") + indent +
         "} else {\n" + a.fetch(k, true, indent + "  ") + b.fetch(k, true, indent + "  ") + indent +
         "}\n";
}

}  // namespace

// Returns the function `put`, which writes four columns of a row to the result. With `wrong`, it
// changes one of the four elements.
std::string put_text(const Variant& variant, const StageText& stages) {
  const std::string spoilt = variant.wrong ? " + vec4<f32>(0.0, 1.0, 0.0, 0.0)" : "";
  std::string text = "fn put(at: Place, row: u32, column: u32, sums: vec4<f32>) {\n";
  text += "  if (row >= p.m || column >= p.n) { return; }\n  let value = " +
          std::string(stages.epilogue ? "epilogue4(sums, at.batch, row, column)" : "sums") +
          spoilt + ";\n";
  // If the sum is divided, each of its parts is a C-ordered matrix, whatever the result's layout.
  if (variant.axes > 0 && !variant.split) {
    if (variant.store4)
      return text + "  out[(at.out + row * p.out_row + out_of(column)) / 4u] = value;\n}\n";
    text += "  let first = at.out + row * p.out_row;\n  out[first + out_of(column)] = value.x;\n";
    for (std::uint32_t j = 1; j < 4; ++j)
      text += "  if (column + " + u(j) + " < p.n) { out[first + out_of(column + " + u(j) +
              ")] = value." + "xyzw"[j] + "; }\n";
    return text + "}\n";
  }
  if (variant.store4) return text + "  out[(at.out + row * p.out_row + column) / 4u] = value;\n}\n";
  const std::string step = variant.split ? "1u" : "p.out_column";
  text +=
      "  let first = at.out + row * p.out_row + column * " + step + ";\n  out[first] = value.x;\n";
  for (int j = 1; j < 4; ++j)
    text += "  if (column + " + u(static_cast<std::uint64_t>(j)) + " < p.n) { out[first + " +
            u(static_cast<std::uint64_t>(j)) + " * " + step + "] = value." + "xyzw"[j] + "; }\n";
  return text + "}\n";
}

std::string tiled_text(const Variant& variant, const StageText& stages) {
  const Tile& tile = variant.tile;
  const std::uint32_t across = tile.columns / tile.block_columns;
  const std::uint32_t row_groups = tile.block_rows / 4U;
  const std::uint32_t column_groups = tile.block_columns / 4U;
  const Side a{"a",
               variant.a,
               tile.rows,
               row_groups,
               tile.depth,
               tile.threads(),
               "p.a_row",
               "p.a_column",
               "p.m",
               "row0",
               "ty",
               false,
               variant.a == Load::outer && variant.b == Load::window_terms};
  const Side b{"b",          variant.b, tile.columns, column_groups, tile.depth, tile.threads(),
               "p.b_column", "p.b_row", "p.n",        "column0",     "tx",       stages.prologue};

  std::string text =
      head(variant, stages) + a.declaration() + b.declaration() + put_text(variant, stages);
  text += "@compute @workgroup_size(" + std::to_string(tile.threads()) + ")\n" +
          "fn main(@builtin(workgroup_id) group: vec3<u32>, "
          "@builtin(local_invocation_index) t: u32) {\n" +
          stages.begin + "  let at = place(group.z);\n";
  text += "  let row0 = group.y * " + u(tile.rows) + ";\n  let column0 = group.x * " +
          u(tile.columns) + ";\n  let tx = t % " + u(across) + ";\n  let ty = t / " + u(across) +
          ";\n";
  text += a.places() + b.places();
  const auto sum = [](std::uint32_t row, std::uint32_t group) {
    return "c" + std::to_string(row) + "_" + std::to_string(group);
  };
  for (std::uint32_t row = 0; row < tile.block_rows; ++row)
    for (std::uint32_t g = 0; g < column_groups; ++g)
      text += "  var " + sum(row, g) + " = vec4<f32>();\n";

  if (variant.prefetch) text += fetch_both(a, b, "at.begin", tile.depth, "  ");
  text += "  for (var k = at.begin; k < at.end; k += " + u(tile.depth) + ") {\n";
  if (!variant.prefetch) text += fetch_both(a, b, "k", tile.depth, "    ");
  text += a.share() + b.share() + "    workgroupBarrier();\n";
  if (variant.prefetch) {
    text += "    let next = k + " + u(tile.depth) + ";\n";
    text +=
        "    if (next < at.end) {\n" + fetch_both(a, b, "next", tile.depth, "      ") + "    }\n";
  }
  text += "    for (var i = 0u; i < " + u(tile.depth) + "; i++) {\n" + b.take() + a.take();
  for (std::uint32_t row = 0; row < tile.block_rows; ++row)
    for (std::uint32_t g = 0; g < column_groups; ++g)
      text += "      " + sum(row, g) + " = fma(vec4<f32>(av" + std::to_string(row / 4) + "." +
              "xyzw"[row % 4] + "), bv" + std::to_string(g) + ", " + sum(row, g) + ");\n";
  text += "    }\n    workgroupBarrier();\n  }\n";
  for (std::uint32_t row = 0; row < tile.block_rows; ++row)
    for (std::uint32_t g = 0; g < column_groups; ++g)
      text += "  put(at, row0 + ty * 4u + " + u(row / 4 * (tile.rows / row_groups) + row % 4) +
              ", column0 + tx * 4u + " + u(g * (tile.columns / column_groups)) + ", " +
              sum(row, g) + ");\n";
  return text + "}\n";
}

}  // namespace arraycore::gemm
