// What the shaders of products share: the uniform block, and where a batch's matrices begin. Any
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "gemm/stages.h"
#include "gemm/variant.h"

namespace arraycore::gemm {

// A literal of WGSL's u32.
inline std::string u(std::uint64_t value) { return std::to_string(value) + "u"; }

// What a shader has of its stages.
struct StageText {
  bool prologue = false;
  bool epilogue = false;
  // The bindings of the operands, and the functions `prologue_at(value, batch, term, column)` (by
  // fours too: `prologue_lines` of four columns, `prologue_terms` of four terms) and
  // `epilogue_at(value, batch, row, column)` (`epilogue4` of four columns).
  std::string functions;
  std::string begin;  // what `main` does first
};
// `binding`: the operands' first.
Result<StageText> stage_text(const Stages& stages, int binding, bool of_window);

// The block; `window_axes`: as a variant's `axes`.
std::string block_text(int window_axes, bool stages);
// `place(z) -> Place`, whose members are offsets in elements, the part's range of terms and the
// batch.
extern const char* const kPlace;
// The block, the bindings of a and b by how they are loaded and of the result, `place`, and what
// reads through the window.
std::string head(const Variant& variant, const StageText& stages);
inline bool is_vector(Load load) { return load == Load::terms4 || load == Load::lines4; }
inline bool is_window(Load load) { return load == Load::window || load == Load::window_terms; }

// Of a window: `out_of(column)`, where a column lies in the result.
std::string window_out_text(int axes);
// `a_of(term)`; `Column`, `Term`, `column_of(column)`, `term_of(term)`; `window(at, column,
// term)`, b's element or 0, and `window4` of four columns at a term, which is a Term already where
// it is read along terms.
std::string window_text(const Variant& variant, bool prologue);

// `put(at, row, column, sums)`: four columns of a row go to the result.
std::string put_text(const Variant& variant, const StageText& stages);
std::string tiled_text(const Variant& variant, const StageText& stages);
std::string direct_text(const Variant& variant, const StageText& stages);
std::string plain_text(const Variant& variant, const StageText& stages);
std::string vector_text(const Variant& variant, const StageText& stages);

}  // namespace arraycore::gemm
