// Launches kernels on an executor with WebGL2, as passes (docs/webgl2.md).
#include <algorithm>
#include <string>
#include <utility>

#include "backend/gpu/ring_backend.h"
#include "backend/kernel_name.h"

namespace arraycore {

namespace glsl = codegen::glsl;

Result<const RingBackend::Program*> RingBackend::program_of_passes(Prepared& prepared) {
  TRY_DONE(passes_.analyze(prepared.kernel, prepared.merge, gpu_));
  const codegen::LaunchSignature& signature = passes_.base.signature;
  const std::uint64_t hash = signature.hash();
  const std::uint64_t variant = passes_.variant();
  for (const Known& known : prepared.known)
    if (known.hash == hash && known.variant == variant && known.signature == signature)
      return known.program;
  auto compiled = compile_passes(prepared);
  if (compiled || compiled.error().kind == ErrorKind::not_implemented)
    prepared.known.push_back({hash, signature, variant, compiled});
  return compiled;
}

Result<const RingBackend::Program*> RingBackend::compile_passes(Prepared& prepared) {
  TRY(const auto& plan,
      glsl::make_plan(prepared.kernel, passes_, {.textures = limits_.storage_buffers}));
  std::string key = plan.key();
  for (const auto& program : prepared.programs)
    if (program->key == key) return program.get();
  TRY(auto& made, glsl::generate(prepared.kernel, plan));
  if (made.uniforms.size() > ring::kMaxUniformWords)
    return Error{ErrorKind::not_implemented, "gpu_uniforms",
                 "kernel '" + prepared.kernel.name + "': the shapes and strides of its arguments " +
                     "are " + std::to_string(made.uniforms.size()) + " words, and a launch takes " +
                     std::to_string(ring::kMaxUniformWords) + "."};
  auto program =
      std::make_unique<Program>(Program{std::move(key), plan.base, {}, std::move(made), {}});
  const std::size_t slots = plan.base.slots.size() + passes_.division.scratch_texels.size();
  for (const glsl::Stage& stage : program->glsl.stages) {
    std::uint32_t written = 0;
    for (const glsl::Pass& pass : stage.passes) written |= 1U << pass.target;
    const ring::PipelineId id = ++pipelines_;
    TRY_DONE(writer_.create_pipeline(
        id, {.text = stage.text(),
             .label = operation_name(prepared.kernel),
             .uniform_bytes = static_cast<std::uint32_t>(program->glsl.uniforms.size() * 4),
             .bindings = static_cast<std::uint32_t>(
                 plan.rows == glsl::Rows::whole ? plan.base.slots.size() : slots),
             .read_write_mask = written}));
    program->pipelines.push_back(id);
  }
  prepared.programs.push_back(std::move(program));
  return prepared.programs.back().get();
}

Status RingBackend::dispatch_passes(const ir::Kernel& kernel, const Program& program) {
  bindings_.clear();
  bindings_.resize(program.plan.slots.size());
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    if (kernel.params[p].kind == ir::ParamKind::scalar) continue;
    const BoundRange& range = ranges_[static_cast<std::size_t>(gpu_.operands[p].binding)];
    bindings_[program.plan.params[p].slot] = {range.buffer, range.offset, range.bytes};
  }
  const auto words = std::span(uniforms_).first(program.glsl.uniforms.size());
  program.glsl.uniform_words(kernel, gpu_, passes_, words);
  // The memory is freed below while these commands still wait. That is safe: only commands that are
  // issued later can use it.
  std::vector<Region> scratch;
  Status sent = Done{};
  if (program.glsl.plan.rows != glsl::Rows::whole) {
    for (const std::int64_t texels : passes_.division.scratch_texels) {
      const auto region = allocate_alone(std::max<std::int64_t>(texels, 1) * glsl::kTexelBytes);
      if (!region) {
        sent = region.error();
        break;
      }
      scratch.push_back(*region);
      bindings_.push_back({region->buffer, 0, static_cast<std::uint32_t>(region->bytes)});
    }
  }
  for (std::size_t s = 0; s < program.pipelines.size() && sent; ++s)
    sent = writer_.dispatch(
        {.tag = tag_, .pipeline = program.pipelines[s], .bindings = bindings_, .uniforms = words});
  for (const Region& region : scratch) pool_->free(region);
  return sent;
}

}  // namespace arraycore
