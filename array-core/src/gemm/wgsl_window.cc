// The WGSL that replaces matrix b in the shaders of convolutions. It splits columns and terms into
// digits and returns the element of the data that the window reads. Numbers are u32 and wrap, so
// that one comparison detects positions before the edge as well as after it.
#include "gemm/wgsl_text.h"

namespace arraycore::gemm {

namespace {

// Returns the number of the window's outermost axis.
int first_of(int axes) { return kWindowAxes - axes; }

// Returns code that splits `rest` into the digits `let d<axis> = ...`, beginning with the last
// axis. What remains in `rest` is the outer digit.
std::string digits(int axes, const std::string& extent) {
  std::string text;
  for (int axis = kWindowAxes - 1; axis >= first_of(axes); --axis) {
    const std::string i = std::to_string(axis);
    const std::string by = extent == "3u" ? extent : "p." + extent + i;
    text += "  let d" + i + " = rest % " + by + ";\n  rest /= " + by + ";\n";
  }
  return text;
}

// Returns a struct's members and its constructor's arguments: the address, then the position along
// each axis.
std::string members(int axes, bool prologue) {
  std::string text = prologue ? "at: u32, outer: u32" : "at: u32";
  for (int axis = first_of(axes); axis < kWindowAxes; ++axis)
    text += ", x" + std::to_string(axis) + ": u32";
  return text;
}

std::string places(int axes, const std::string& type, const std::string& outer,
                   const std::string& step, bool origin, bool prologue) {
  std::string text;
  std::string at = "rest * p." + outer;
  std::string arguments = prologue ? ", rest" : "";
  for (int axis = first_of(axes); axis < kWindowAxes; ++axis) {
    const std::string i = std::to_string(axis);
    text +=
        "  let x" + i + " = d" + i + " * p." + step + i + (origin ? " + p.origin" + i : "") + ";\n";
    at += " + x" + i + " * p.b_stride" + i;
    arguments += ", x" + i;
  }
  return text + "  return " + type + "(" + at + arguments + ");\n}\n";
}

}  // namespace

std::string window_out_text(int axes) {
  std::string text = "fn out_of(column: u32) -> u32 {\n  var rest = column;\n" +
                     digits(axes, "columns") + "  return rest * p.out_column";
  for (int axis = first_of(axes); axis < kWindowAxes; ++axis) {
    const std::string i = std::to_string(axis);
    text += " + d" + i + " * p.out_stride" + i;
  }
  return text + ";\n}\n";
}

std::string window_text(const Variant& variant, bool prologue) {
  const int axes = variant.axes;
  const bool along = variant.b == Load::window_terms;
  const bool outer_term = prologue || along;
  std::string text =
      "fn a_of(term: u32) -> u32 { return (term / p.inner) * p.a_column + term % p.inner; }\n";
  text += "struct Column { " + members(axes, prologue) + " }\nstruct Term { " +
          members(axes, outer_term) + " }\n";
  text += "fn column_of(column: u32) -> Column {\n  var rest = column;\n" +
          digits(axes, "columns") +
          places(axes, "Column", "b_column", "column_step", true, prologue);
  text += "fn term_of(term: u32) -> Term {\n  var rest = term;\n" +
          digits(axes, variant.three ? "3u" : "terms") +
          places(axes, "Term", "b_row", "term_step", false, outer_term);
  // The operator is & and not &&, which would be a branch. With three axes, a step of the loop
  // would have 32 branches, and software devices need minutes and gigabytes to compile so many.
  text += "fn window(at: Place, c: Column, t: Term) -> f32 {\n  let inside = ";
  for (int axis = first_of(axes); axis < kWindowAxes; ++axis) {
    const std::string i = std::to_string(axis);
    text += (axis > first_of(axes) ? " & (c.x" : "(c.x") + i + " + t.x" + i + " < p.edge" + i + ")";
  }
  text += ";\n  let value = b[select(at.b, at.b + c.at + t.at, inside)];\n";
  text += prologue
              ? "  return select(0.0, prologue_at(value, at.batch, t.outer, c.outer), inside);\n}\n"
              : "  return select(0.0, value, inside);\n}\n";
  text += std::string("fn window4(at: Place, c0: Column, c1: Column, c2: Column, c3: Column, ") +
          (along ? "t: Term) -> vec4<f32> {\n"
                 : "term: u32) -> vec4<f32> {\n  let t = term_of(term);\n") +
          "  return vec4<f32>(window(at, c0, t), window(at, c1, t), window(at, c2, t), "
          "window(at, c3, t));\n}\n";
  return text;
}

}  // namespace arraycore::gemm
