// glsl_cases FOLDER [RANDOM [FIRST_SEED]]: writes cases.json and data.bin for run_glsl.mjs, from
// the cases of tests/wgsl. Launches that WebGL2 cannot do are counted by their reasons.
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "case_writer.h"
#include "codegen/glsl/glsl.h"

namespace arraycore::wgsl_cases {
namespace {

class GlslWriter final : public CaseWriter {
 public:
  void print_refusals() const {
    for (const auto& [reason, count] : refusals_)
      std::cout << count << " refused: " << reason << '\n';
  }

 private:
  Result<nlohmann::json> program(const ir::Kernel& kernel, const codegen::Launch& launch,
                                 const codegen::Limits& /*limits*/,
                                 std::vector<std::uint32_t>& slots) override {
    TRY_DONE(codegen::glsl::check(kernel));
    codegen::glsl::LaunchAnalysis analysis;
    TRY_DONE(analysis.analyze(kernel, codegen::merge_of(kernel), launch));
    TRY(const auto& plan, codegen::glsl::make_plan(kernel, analysis, {}));
    TRY(const auto& program, codegen::glsl::generate(kernel, plan));
    nlohmann::json one;
    std::vector<std::uint32_t> uniforms(program.uniforms.size());
    program.uniform_words(kernel, launch, analysis, uniforms);
    one["uniforms"] = uniforms;
    one["stages"] = nlohmann::json::array();
    for (const codegen::glsl::Stage& stage : program.stages) one["stages"].push_back(stage.text());
    for (const codegen::ParamPlan& param : plan.base.params) slots.push_back(param.slot);
    one["scratch"] = nlohmann::json::array();
    for (std::size_t k = 0; k < analysis.division.scratch_texels.size(); ++k)
      if (const std::int64_t texels = analysis.division.scratch_texels[k]; texels > 0)
        one["scratch"].push_back(
            {{"slot", plan.base.slots.size() + k}, {"bytes", texels * codegen::glsl::kTexelBytes}});
    return one;
  }

  // Reasons that do not depend on how a kernel was written would hide an error of the generator.
  bool may_refuse(const Error& reason) override {
    for (const char* known :
         {"it writes at places that it computes", "it scans rows of over 65536 elements",
          "the axes' indices in a reduction"})
      if (reason.message.find(known) != std::string::npos) {
        ++refusals_[known];
        return true;
      }
    return false;
  }

  std::map<std::string, int> refusals_;
};

}  // namespace
}  // namespace arraycore::wgsl_cases

int main(int argc, char** argv) {
  using namespace arraycore::wgsl_cases;
  if (argc < 2) die("usage: glsl_cases FOLDER [RANDOM [FIRST_SEED]]");
  GlslWriter writer;
  add_operation_cases(writer);
  add_layout_cases(writer);
  add_reduction_cases(writer);
  add_surface_cases(writer);
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 400;
  add_random_cases(writer, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1, count);
  writer.write(argv[1]);
  writer.print_refusals();
  std::cout << writer.size() << " cases\n";
}
