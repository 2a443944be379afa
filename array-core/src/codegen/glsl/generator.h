// Writes one kernel with one plan as GLSL. Use a Generator for one run() only. Internal to
// codegen/glsl; pure.
#pragma once

#include <string>
#include <vector>

#include "codegen/glsl/glsl.h"
#include "codegen/shader_generator.h"

namespace arraycore::codegen::glsl {

class Generator final : public ShaderGenerator {
 public:
  Generator(const ir::Kernel& kernel, const Plan& plan)
      : ShaderGenerator(kernel, plan.base), plan_of_passes_(plan), targets_(plan.targets) {}
  Result<Program> run();

  // ---- Environment: analyze() has refused kernels that write at computed places
  std::string write_at(Id param, const std::string& at, const std::string& value) override;
  std::string atomic(Op op, Id param, const std::string& at,
                     const std::vector<std::string>& values) override;

 private:
  std::string load_word(std::uint32_t slot, const std::string& at) const override;
  std::string load_pair(std::uint32_t slot, const std::string& at) const override;
  std::string raw_addresses();

  // ---- passes of the last stage
  //
  // Returns the function that finds the number of the element at address `e`; -1 if the view has no
  // element there.
  std::string number_of(const Target& target);
  // Returns the function that computes the element with this number and gives the target's bits.
  std::string run_one(const Target& target);
  std::string main_of(const Target& target);
  // Returns the begin of an entry point: the variable `texel`, and the test of the pass' range.
  static std::string begin_main(const std::string& first, const std::string& texels);
  // Returns the whole text of a pass, and the slots that it reads. `kept` is the slot whose words
  // it keeps, or kNone.
  std::string text_of(const std::string& code, const std::string& addresses,
                      const std::string& main, std::uint32_t kept,
                      std::vector<std::uint32_t>& reads) const;

  // ---- reductions and scans (reduction.cc)
  std::string division(std::uint32_t index) { return integer(From::target, ir::kNone, index); }
  std::uint32_t scratch(std::uint32_t k) const {
    return static_cast<std::uint32_t>(plan_.slots.size()) + k;
  }
  std::uint32_t texels_per_total() const;
  // Returns the function load<k>(), which reads a Total from scratch storage k.
  std::string load_total(std::uint32_t k) const;
  // Returns the function that gives the index of a part (or group) of a row among `count` of them.
  std::string place_in_scratch();
  // Returns the functions with which a stage computes the Totals of scratch storage k.
  std::string scratch_code(std::uint32_t k);
  std::string scratch_main(std::uint32_t k);
  // Returns the functions row_total() of a reduction, or running_total() of a scan.
  std::string last_totals();

  const Plan& plan_of_passes_;
  const std::vector<Target>& targets_;
};

}  // namespace arraycore::codegen::glsl
