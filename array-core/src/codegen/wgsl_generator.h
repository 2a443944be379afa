// Writes one kernel with one plan as WGSL: bindings, accessors and entry points. Use a
// Generator for one run() only. Internal to codegen/; pure.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/shader_generator.h"
#include "codegen/wgsl.h"

namespace arraycore::codegen {

class Generator final : public ShaderGenerator {
 public:
  Generator(const ir::Kernel& kernel, const Plan& plan) : ShaderGenerator(kernel, plan) {}
  Result<WgslProgram> run();

  // ---- Environment
  std::string write_at(Id param, const std::string& at, const std::string& value) override;
  std::string atomic(Op op, Id param, const std::string& at,
                     const std::vector<std::string>& values) override;

 private:
  // ---- declarations
  std::string declarations(WgslStage& stage);
  std::string load_word(std::uint32_t slot, const std::string& at) const override;
  std::string store_word(std::uint32_t slot, const std::string& at, const std::string& value) const;

  // ---- element accessors (wgsl_access.cc): pN_set(e, v) counts e in elements of the binding
  std::string setter(Id p) const;
  std::string accessors();

  // ---- elementwise kernels (wgsl_element.cc)
  //
  // Returns code that computes and stores the loop element with the C-order index `number`.
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

  // ---- reductions and scans (wgsl_fold.cc)
  //
  // Returns the function fours(), which gives the combined mapped values of four elements of row
  // `row`, the first of which is number `first`.
  std::string run_fours();
  std::string run_post();
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

  std::set<Id> used_set_;
  std::set<std::pair<Id, Op>> used_atomics_;
};

}  // namespace arraycore::codegen
