#include "case_writer.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "ir/print.h"
#include "ir/verify.h"

namespace arraycore::wgsl_cases {

void die(const std::string& message) {
  std::cerr << "wgsl_cases: " << message << '\n';
  std::exit(1);
}

nlohmann::json CaseWriter::blob(const std::byte* data, std::size_t size) {
  const std::size_t at = data_.size();
  data_.append(reinterpret_cast<const char*>(data), size);
  return {{"at", at}, {"size", size}};
}

Result<nlohmann::json> WgslWriter::program(const ir::Kernel& kernel, const codegen::Launch& launch,
                                           const codegen::Limits& limits,
                                           std::vector<std::uint32_t>& slots) {
  codegen::Launch rounded = launch;
  for (codegen::Operand& operand : rounded.operands) operand.bytes = (operand.bytes + 15) / 16 * 16;
  TRY(const auto& plan, codegen::make_plan(kernel, rounded, limits));
  TRY(const auto& program, codegen::generate(kernel, plan));
  codegen::LaunchAnalysis analysis;
  TRY_DONE(analysis.analyze(kernel, codegen::merge_of(kernel), rounded));
  nlohmann::json one;
  std::vector<std::uint32_t> uniforms(program.uniforms.size());
  program.uniform_words(kernel, rounded, analysis.walks, uniforms);
  one["uniforms"] = uniforms;
  one["scratch"] = program.scratch_bytes(analysis.walks);
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    const codegen::WgslStage& stage = program.stages[s];
    nlohmann::json bindings = nlohmann::json::array();
    for (const codegen::Binding& binding : stage.bindings)
      bindings.push_back({{"slot", binding.slot == codegen::kScratch ? -1 : int(binding.slot)},
                          {"write", binding.access == codegen::BindingAccess::read_write}});
    one["stages"].push_back({{"text", stage.text},
                             {"bindings", bindings},
                             {"grid", codegen::grid(plan, analysis.walks, s)}});
  }
  for (const codegen::ParamPlan& param : plan.params) slots.push_back(param.slot);
  return one;
}

bool CaseWriter::add(const std::string& name, const ir::Kernel& kernel, const Dims& loop,
                     std::uint32_t reduced, std::vector<CaseArgument> arguments,
                     codegen::Accuracy accuracy, const codegen::Limits& limits) {
  if (const Status verified = ir::verify(kernel); !verified)
    die(name + ": " + verified.error().message + "\n" + ir::print(kernel));
  codegen::Launch launch{loop, reduced, {}};
  std::vector<std::size_t> storage;  // from an argument to the argument that has its storage
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::size_t owner = i;
    for (std::size_t j = 0; j < i; ++j)
      if (arguments[i].alias >= 0 && arguments[j].alias == arguments[i].alias) {
        owner = j;
        break;
      }
    storage.push_back(owner);
    const std::uint64_t bytes = std::max<std::uint64_t>(arguments[owner].bytes.size(), 1);
    launch.operands.push_back({static_cast<std::uint32_t>(owner), static_cast<std::uint32_t>(owner),
                               bytes, arguments[i].view, arguments[i].scalar});
  }
  std::vector<std::uint32_t> slots;
  auto made = program(kernel, launch, limits, slots);
  if (!made) {
    refusal_ = made.error();
    return may_refuse(refusal_);
  }
  nlohmann::json one = std::move(*made);
  one["name"] = name;
  for (CaseArgument& a : arguments)
    while (a.bytes.empty() || a.bytes.size() % 16 != 0) a.bytes.push_back(std::byte{0});

  std::vector<std::vector<std::byte>> after;
  for (const CaseArgument& a : arguments) after.push_back(a.bytes);
  ir::Launch reference{loop, reduced, {}};
  for (std::size_t i = 0; i < arguments.size(); ++i)
    reference.arguments.push_back(
        {after[storage[i]].data(), arguments[i].view, arguments[i].scalar});
  if (const Status run = ir::interpret(kernel, reference); !run)
    die(name + ": " + run.error().message);

  std::vector<bool> bound(arguments.size(), false);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (kernel.params[i].kind == ir::ParamKind::scalar) continue;
    const std::size_t owner = storage[i];
    const std::uint32_t slot = slots[i];
    if (bound[slot]) continue;
    bound[slot] = true;
    const auto& before = arguments[owner].bytes;
    one["buffers"].push_back({{"slot", slot},
                              {"before", blob(before.data(), before.size())},
                              {"after", blob(after[owner].data(), after[owner].size())},
                              {"dtype", std::string(name_of(kernel.params[i].dtype))}});
  }
  one["ulp"] = accuracy.ulp;
  one["floor"] = accuracy.floor;
  cases_.push_back(std::move(one));
  return true;
}

void CaseWriter::write(const std::string& folder) const {
  std::ofstream(folder + "/cases.json") << cases_.dump(-1, ' ', true);
  std::ofstream(folder + "/data.bin", std::ios::binary)
      .write(data_.data(), static_cast<std::streamsize>(data_.size()));
}

}  // namespace arraycore::wgsl_cases
