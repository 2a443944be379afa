// WGSL that the shaders of products share: the uniform block, and the places where the matrices
// begin for each element of the batch. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "gemm/stages.h"
#include "gemm/variant.h"

namespace arraycore::gemm {

// Returns a u32 literal of WGSL.
inline std::string u(std::uint64_t value) { return std::to_string(value) + "u"; }

// The WGSL of a shader's prologue and epilogue.
struct StageText {
  bool prologue = false;
  bool epilogue = false;
  // The bindings of the operands and the functions `prologue_at(value, batch, term, column)` and
  // `epilogue_at(value, batch, row, column)`. There are also functions for four elements:
  // `prologue_lines` (four columns), `prologue_terms` (four terms) and `epilogue4` (four columns).
  std::string functions;
  std::string begin;  // the first statements of `main`
};
// Returns the WGSL of the stages. `binding` is the first binding of their operands.
Result<StageText> stage_text(const Stages& stages, int binding, bool of_window);

// Returns the uniform block's WGSL. `window_axes` is a variant's `axes`.
std::string block_text(int window_axes, bool stages);
// The WGSL function `place(z) -> Place`. A Place has the matrices' offsets in elements, the range
// of terms of the part, and the number of the batch element.
extern const char* const kPlace;
// Returns WGSL: the uniform block, the bindings of a and b (by how they are loaded) and of the
// result, `place`, and the functions that read through the window.
std::string head(const Variant& variant, const StageText& stages);
inline bool is_vector(Load load) { return load == Load::terms4 || load == Load::lines4; }
inline bool is_window(Load load) { return load == Load::window || load == Load::window_terms; }

// Returns the text of `out_of(column)`, which gives the offset of a column in the result, for a
// problem with a window.
std::string window_out_text(int axes);
// Returns the text of these functions: `a_of(term)`; `column_of(column)` and `term_of(term)`, with
// their structs `Column` and `Term`; `window(at, column, term)`, which returns b's element or 0;
// and `window4`, which returns the elements of four columns at a term. If the window is read along
// terms, `window4` takes a Term instead of the term's number.
std::string window_text(const Variant& variant, bool prologue);

// Returns the text of `put(at, row, column, sums)`, which writes four columns of a row to the
// result.
std::string put_text(const Variant& variant, const StageText& stages);
std::string tiled_text(const Variant& variant, const StageText& stages);
std::string direct_text(const Variant& variant, const StageText& stages);
std::string plain_text(const Variant& variant, const StageText& stages);
std::string vector_text(const Variant& variant, const StageText& stages);

}  // namespace arraycore::gemm
