// Writes one kernel with one plan as WGSL: uniforms, bindings, accessors and entry points. Use a
// Generator for one run() only. Internal to codegen/; pure.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/wgsl.h"
#include "codegen/wgsl_body.h"

namespace arraycore::codegen {

inline std::string num(std::uint64_t n) { return std::to_string(n); }

// Returns whether every path through the block to its end stores to `param`. Sets `stopped` if the
// body may return before the end.
bool always_stores(const ir::Kernel& k, ir::Id block, ir::Id param, bool& stopped);

class Generator final : public Environment {
  using Id = ir::Id;
  using Kernel = ir::Kernel;
  using Op = ir::Op;
  using Param = ir::Param;
  using ParamKind = ir::ParamKind;
  using From = UniformWord::From;

 public:
  Generator(const Kernel& kernel, const Plan& plan);
  Result<WgslProgram> run();

  // ---- Environment
  std::string constant(DType dtype, const ir::Scalar& value) override;
  std::string leaf(const ir::Expr& e) override;
  std::string address(Id param, const std::vector<std::string>& index) override;
  std::string read_at(Id param, const std::string& at) override;
  std::string write_at(Id param, const std::string& at, const std::string& value) override;
  std::string store(Id param, const std::string& value) override;
  std::string atomic(Op op, Id param, const std::string& at,
                     const std::vector<std::string>& values) override;

 private:
  const Param& param(Id p) const { return k_.params[p]; }
  const ParamPlan& own(Id p) const { return plan_.params[p]; }
  bool elementwise(Id p) const { return param(p).kind == ParamKind::elementwise; }

  // ---- uniforms
  std::string word(From from, std::uint32_t p = 0, std::uint32_t a = 0, std::uint32_t bits = 0);
  std::string integer(From from, std::uint32_t p = 0, std::uint32_t a = 0);
  std::string real_word(const UniformWord& w);
  std::string scalar(Id p);

  // ---- declarations
  std::string declarations(WgslStage& stage);
  std::string load_word(std::uint32_t slot, const std::string& at) const;
  std::string store_word(std::uint32_t slot, const std::string& at, const std::string& value) const;

  // ---- element accessors (wgsl_access.cc)
  //
  // pN_get(e) and pN_set(e, v) count e in elements of the binding.
  std::string getter(Id p) const;
  std::string setter(Id p) const;
  // Returns the address of an element of a raw parameter; indices are clamped into the array.
  std::string raw_address(Id p);
  std::string accessors();

  // ---- addresses of elementwise parameters (wgsl_element.cc)
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
  // Returns code that computes only the loop element with the C-order index `number`.
  std::string one_element(const std::string& number);
  std::string entry(const std::string& body) const;
  std::string single_main();
  // Returns whether four neighbouring elements are read at once, as words (u32 or vec4<u32>).
  bool grouped(Id p) const;
  std::string quad_main();
  std::string group_words(Id p, const std::string& at) const;
  // Returns element `k` of the group of four whose words are in the variable q<p>w.
  std::string lane_of_group(Id p, std::uint32_t k) const;
  // Returns code for element `k` of a group of four: it loads the private variables, computes the
  // element, and keeps the results.
  std::string quad_lane(std::uint32_t k);
  std::string store_group(Id p) const;

  // ---- reductions and scans (wgsl_fold.cc): a Total holds the accumulators' values
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
  // run_map() returns code for the mapped values of element `inner` of row `row`, run_fours() for
  // those of four elements, the first of which is number `first`.
  std::string run_map();
  std::string run_fours();
  std::string both_steps(Id p);
  std::string run_post();
  std::string row_place(Id p);
  std::string identity();
  std::string lanes_array() const;
  std::string load_scratch(const std::string& place) const;
  std::string store_scratch(const std::string& place, const std::string& total) const;

  // ---- entry points of reductions (wgsl_reduction.cc)
  //
  // Returns code that adds the units `first`, `first + stride`, ... of row `row` to `total`.
  std::string strided_total(const std::string& first, const std::string& stride);
  // Returns code that combines the totals of the lanes that share a row. Only the first `valid`
  // totals count. The result replaces the total of the row's first lane.
  std::string tree(std::uint32_t lanes, std::uint32_t step, const std::string& own,
                   const std::string& valid) const;
  std::string rows_main();
  std::string join_main();

  // ---- entry points of scans (wgsl_scan.cc)
  std::vector<std::string> scan_mains();
  std::string scan_lanes() const;
  std::string thread_scan();
  std::string part_totals();
  std::string scan_totals();
  std::string scan_tiles();

  const Kernel& k_;
  const Plan& plan_;
  std::vector<UniformWord> words_;
  std::string privates_;
  bool uses_axes_ = false;
  bool in_post_ = false;
  std::set<Id> used_at_;
  std::set<Id> used_set_;
  std::set<std::pair<Id, Op>> used_atomics_;
};

}  // namespace arraycore::codegen
