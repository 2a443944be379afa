// Writes the parts of a shader that do not depend on its language: uniform words, addresses,
// element bodies, and the functions of reductions. WGSL and GLSL each derive a class from this one,
// which adds declarations, accessors of memory and entry points. Internal to codegen/; pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "codegen/plan.h"
#include "codegen/shader_body.h"
#include "codegen/uniforms.h"

namespace arraycore::codegen {

inline std::string num(std::uint64_t n) { return std::to_string(n); }

// Returns the member of the struct Total that has the value of accumulator `v`.
inline std::string total_member(std::size_t v) { return "v" + num(v); }

// Returns whether every path through the block to its end stores to `param`. Sets `stopped` if the
// body may return before the end.
bool always_stores(const ir::Kernel& k, ir::Id block, ir::Id param, bool& stopped);

class ShaderGenerator : public Environment {
 public:
  // ---- Environment
  std::string constant(DType dtype, const ir::Scalar& value) override;
  std::string leaf(const ir::Expr& e) override;
  std::string address(ir::Id param, const std::vector<std::string>& index) override;
  std::string read_at(ir::Id param, const std::string& at) override;
  std::string store(ir::Id param, const std::string& value) override;

 protected:
  using Id = ir::Id;
  using Kernel = ir::Kernel;
  using Op = ir::Op;
  using Param = ir::Param;
  using ParamKind = ir::ParamKind;
  using From = UniformWord::From;

  ShaderGenerator(const Kernel& kernel, const Plan& plan);

  const Param& param(Id p) const { return k_.params[p]; }
  const ParamPlan& own(Id p) const { return plan_.params[p]; }
  bool elementwise(Id p) const { return param(p).kind == ParamKind::elementwise; }

  // ---- uniforms
  std::string word(From from, std::uint32_t p = 0, std::uint32_t a = 0, std::uint32_t bits = 0);
  std::string integer(From from, std::uint32_t p = 0, std::uint32_t a = 0);
  std::string real_word(const UniformWord& w);
  std::string scalar(Id p);

  // ---- elements of bindings
  //
  // Returns code for the word (u32) at index `at` (u32) of a binding.
  virtual std::string load_word(std::uint32_t slot, const std::string& at) const = 0;
  // Returns code for the words 2 * `at` and 2 * `at` + 1.
  virtual std::string load_pair(std::uint32_t slot, const std::string& at) const;
  // pN_get(e) counts e in elements of the binding.
  std::string getter(Id p) const;
  // Returns the address of an element of a raw parameter; indices are clamped into the array.
  std::string raw_address(Id p);

  // ---- addresses of elementwise parameters
  //
  // Returns code that sets c0, c1, ... to the coordinates of element `number` of the walk
  // (lower::Walk).
  std::string coordinates(const std::string& prefix, const std::string& number, int ndim,
                          From extent);
  std::string steps(const std::string& prefix, Id p, int ndim, From stride);
  bool needs_coordinates() const;
  // Returns the element address of `p` in an elementwise kernel, at the loop element with the
  // C-order index `number` (i32).
  std::string place(Id p, const std::string& number);
  std::string axis(Id a);

  // ---- elementwise kernels
  bool preloads(Id p) const;
  bool written(Id p) const;
  std::string element_body();
  // Returns code that computes the loop element with the C-order index `number`. Its results are
  // then in the private variables p0, p1, ...
  std::string compute_element(const std::string& number);

  // ---- reductions and scans (shader_fold.cc): a Total holds the accumulators' values
  DType accumulated(std::size_t v) const { return k_.locals[k_.reduction->values[v].a].type; }
  std::string reduction_bodies();
  std::string combine_function();
  std::string coordinates_of_rows();
  // Returns code that sets s_inner, the element's position in its row, and s_number, its C-order
  // number in the loop. The code reads `row` and `inner`.
  std::string numbers();
  // Returns code that sets the `mapped` locals to zero. Afterwards they are copied to a Total.
  std::string zero_mapped() const;
  std::string mapped_total() const;
  // Returns the function mapped(), which gives the mapped values of element `inner` of row `row`.
  std::string run_map();
  std::string both_steps(Id p);
  // Returns the begin of the function finish(), which runs `post` for a row or, in a scan, for an
  // element. After this code the results are in the private variables p0, p1, ...
  std::string begin_finish();
  std::string row_place(Id p);
  std::string identity();

  const Kernel& k_;
  const Plan& plan_;
  std::vector<UniformWord> words_;
  std::string privates_;
  bool uses_axes_ = false;
  bool in_post_ = false;
  std::set<Id> used_at_;
};

}  // namespace arraycore::codegen
