// Collects cases for run_wgsl.mjs and tests/glsl/run_glsl.mjs: generated shaders with their buffers
// before and after the launch. The reference interpreter computes the buffers after it. Writes
// cases.json and data.bin.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codegen/accuracy.h"
#include "codegen/wgsl.h"
#include "gemm/stages.h"
#include "gemm/variant.h"
#include "ir/interpret.h"

namespace arraycore::wgsl_cases {

// One argument: its storage before the launch. Arguments with the same `alias` >= 0 share the
// storage of the first of them.
struct CaseArgument {
  std::vector<std::byte> bytes;
  View view;
  ir::Scalar scalar;
  int alias = -1;
};

class CaseWriter {
 public:
  CaseWriter() = default;
  CaseWriter(const CaseWriter&) = delete;
  CaseWriter& operator=(const CaseWriter&) = delete;
  virtual ~CaseWriter() = default;

  // Adds a case. Returns false if the kernel was refused; then `refusal()` has the reason.
  bool add(const std::string& name, const ir::Kernel& kernel, const Dims& loop,
           std::uint32_t reduced, std::vector<CaseArgument> arguments,
           codegen::Accuracy accuracy = {}, const codegen::Limits& limits = {});
  const Error& refusal() const { return refusal_; }
  std::size_t size() const { return cases_.size(); }
  void write(const std::string& folder) const;

 protected:
  // Returns what the runner needs to know of a launch's shaders. Sets `slots` to the slot of each
  // parameter. The bytes of an operand are those of its storage before they are rounded up.
  virtual Result<nlohmann::json> program(const ir::Kernel& kernel, const codegen::Launch& launch,
                                         const codegen::Limits& limits,
                                         std::vector<std::uint32_t>& slots) = 0;
  // Returns whether a launch may be refused for this reason; then its case is left out.
  virtual bool may_refuse(const Error& /*reason*/) { return false; }

  nlohmann::json blob(const std::byte* data, std::size_t size);

  nlohmann::json cases_ = nlohmann::json::array();
  std::string data_;
  Error refusal_;
};

class WgslWriter final : public CaseWriter {
 public:
  // Adds a case for a kernel that multiplies matrices, with the problem of its self-test.
  void add_product(const gemm::Variant& variant, const gemm::Stages& stages = {});

 private:
  Result<nlohmann::json> program(const ir::Kernel& kernel, const codegen::Launch& launch,
                                 const codegen::Limits& limits,
                                 std::vector<std::uint32_t>& slots) override;
};

// Ends the program with a message, because a case was refused that must be possible.
[[noreturn]] void die(const std::string& message);

void add_operation_cases(CaseWriter& writer);
void add_layout_cases(CaseWriter& writer);
void add_reduction_cases(CaseWriter& writer);
void add_product_cases(WgslWriter& writer);
void add_surface_cases(CaseWriter& writer);
void add_random_cases(CaseWriter& writer, std::uint64_t first, std::uint64_t count);

}  // namespace arraycore::wgsl_cases
