// Launches kernels on the ring: turns a kernel and its arguments into commands.
#include <algorithm>
#include <utility>

#include "backend/gpu/ring_backend.h"
#include "backend/kernel_name.h"
#include "ir/verify.h"

namespace arraycore {

namespace {

// Returns the size rounded up to whole vec4s. The rounded range exists, because every buffer and
// every slot of a heap is a multiple of 256 bytes.
std::uint32_t bound_bytes(std::int64_t bytes) {
  return static_cast<std::uint32_t>((bytes + 15) / 16 * 16);
}

ring::Binding binding_of(const BoundRange& range) {
  return {range.buffer, range.offset, range.bytes};
}

}  // namespace

Result<KernelId> RingBackend::prepare(ir::Kernel kernel) {
  TRY_DONE(ir::verify(kernel));
  if (has_passes_) TRY_DONE(codegen::glsl::check(kernel));
  const lower::Merge merge = codegen::merge_of(kernel);
  kernels_.push_back({std::move(kernel), merge, {}, {}, {}});
  return static_cast<KernelId>(kernels_.size() - 1);
}

// The kernel's number is not reused, because a message may still name it.
void RingBackend::forget(KernelId kernel) {
  Prepared& prepared = kernels_[kernel];
  for (const auto& program : prepared.programs)
    for (const ring::PipelineId pipeline : program->pipelines)
      static_cast<void>(writer_.destroy_pipeline(pipeline));  // a lost device has none left
  prepared.known.clear();
  prepared.programs.clear();
  const std::string name = prepared.kernel.name;
  prepared.kernel = {};
  prepared.kernel.name = name;
}

// Returns the index of the storage's range in `ranges_`. Adds the range if it is new.
std::uint32_t RingBackend::bind(StorageId storage) {
  const Region& region = at(storage);
  const auto offset = static_cast<std::uint32_t>(region.offset);
  std::uint32_t place = 0;
  while (place < ranges_.size() &&
         (ranges_[place].buffer != region.buffer || ranges_[place].offset != offset))
    ++place;
  if (place == ranges_.size())
    ranges_.push_back({region.buffer, offset, bound_bytes(region.bytes)});
  return place;
}

Status RingBackend::launch(const Launch& launch) {
  Prepared& prepared = kernels_[launch.kernel];
  tag_ = launch.kernel + 1;
  gpu_.loop = launch.loop;
  gpu_.reduced = launch.reduced;
  gpu_.operands.resize(launch.arguments.size());
  ranges_.clear();
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    codegen::Operand& operand = gpu_.operands[i];
    if (const auto* array = std::get_if<ArrayArgument>(&launch.arguments[i])) {
      operand.binding = bind(array->storage);
      const BoundRange& range = ranges_[static_cast<std::size_t>(operand.binding)];
      operand.heap = range.buffer;
      operand.bytes =
          has_passes_ ? static_cast<std::uint64_t>(at(array->storage).bytes) : range.bytes;
      operand.view = array->view;
    } else {
      operand.scalar = *std::get_if<ir::Scalar>(&launch.arguments[i]);
    }
  }
  if (ranges_.size() > limits_.storage_buffers) return launch_packed(prepared);
  const auto found = program(prepared);
  return found ? dispatch(prepared.kernel, **found) : Status(found.error());
}

Result<const RingBackend::Program*> RingBackend::program(Prepared& prepared) {
  if (has_passes_) return program_of_passes(prepared);
  TRY_DONE(analysis_.analyze(prepared.kernel, prepared.merge, gpu_));
  const std::uint64_t hash = analysis_.signature.hash();
  for (const Known& known : prepared.known)
    if (known.hash == hash && known.signature == analysis_.signature) return known.program;
  auto compiled = compile(prepared);
  // An outcome is kept if it is final: a program, or the error that this device cannot compute the
  // launch. Any other error comes from a command that the ring refused. It is not kept, because the
  // next attempt may succeed.
  if (compiled || compiled.error().kind == ErrorKind::not_implemented)
    prepared.known.push_back({hash, analysis_.signature, 0, compiled});
  return compiled;
}

Result<const RingBackend::Program*> RingBackend::compile(Prepared& prepared) {
  TRY(auto& plan, codegen::make_plan(prepared.kernel, analysis_.signature, limits_));
  std::string key = plan.key();
  for (const auto& program : prepared.programs)
    if (program->key == key) return program.get();
  TRY(auto& wgsl, codegen::generate(prepared.kernel, plan));
  if (wgsl.uniforms.size() > ring::kMaxUniformWords)
    return Error{ErrorKind::not_implemented, "gpu_uniforms",
                 "kernel '" + prepared.kernel.name + "': the shapes and strides of its arguments " +
                     "are " + std::to_string(wgsl.uniforms.size()) + " words, and a launch takes " +
                     std::to_string(ring::kMaxUniformWords) + "."};
  auto program =
      std::make_unique<Program>(Program{std::move(key), std::move(plan), std::move(wgsl), {}, {}});
  TRY_DONE(create_pipelines(prepared.kernel, *program));
  prepared.programs.push_back(std::move(program));
  return prepared.programs.back().get();
}

Status RingBackend::create_pipelines(const ir::Kernel& kernel, Program& program) {
  for (const codegen::WgslStage& stage : program.wgsl.stages) {
    std::uint32_t writable = 0;
    for (std::size_t i = 0; i < stage.bindings.size(); ++i)
      if (stage.bindings[i].access == codegen::BindingAccess::read_write) writable |= 1U << i;
    const ring::PipelineId id = ++pipelines_;
    TRY_DONE(writer_.create_pipeline(
        id, {.text = stage.text,
             .label = operation_name(kernel),
             .uniform_bytes = static_cast<std::uint32_t>(program.wgsl.uniforms.size() * 4),
             .bindings = static_cast<std::uint32_t>(stage.bindings.size()),
             .read_write_mask = writable}));
    program.pipelines.push_back(id);
  }
  return Done{};
}

Status RingBackend::dispatch(const ir::Kernel& kernel, const Program& program) {
  if (has_passes_) return dispatch_passes(kernel, program);
  slots_.resize(program.plan.slots.size());
  for (std::size_t p = 0; p < kernel.params.size(); ++p)
    if (kernel.params[p].kind != ir::ParamKind::scalar)
      slots_[program.plan.params[p].slot] =
          binding_of(ranges_[static_cast<std::size_t>(gpu_.operands[p].binding)]);
  program.wgsl.uniform_words(kernel, gpu_, analysis_.walks,
                             std::span(uniforms_).first(program.wgsl.uniforms.size()));
  const auto scratch_bytes = static_cast<std::int64_t>(program.wgsl.scratch_bytes(analysis_.walks));
  if (scratch_bytes == 0) return dispatch_stages(program, {});
  TRY(const auto& scratch, allocate_alone(scratch_bytes));
  // The memory is freed below while these commands still wait. That is safe: only commands that are
  // issued later can use it.
  const Status sent =
      dispatch_stages(program, {scratch.buffer, 0, static_cast<std::uint32_t>(scratch_bytes)});
  pool_->free(scratch);
  return sent;
}

Status RingBackend::dispatch_stages(const Program& program, const ring::Binding& scratch) {
  for (std::size_t s = 0; s < program.wgsl.stages.size(); ++s) {
    const auto [x, y, z] = codegen::grid(program.plan, analysis_.walks, s);
    if (x == 0 || y == 0 || z == 0) continue;
    bindings_.clear();
    for (const codegen::Binding& binding : program.wgsl.stages[s].bindings)
      bindings_.push_back(binding.slot == codegen::kScratch ? scratch : slots_[binding.slot]);
    TRY_DONE(
        writer_.dispatch({.tag = tag_,
                          .pipeline = program.pipelines[s],
                          .x = x,
                          .y = y,
                          .z = z,
                          .bindings = bindings_,
                          .uniforms = std::span(uniforms_).first(program.wgsl.uniforms.size())}));
  }
  return Done{};
}

// ---- more arguments than bindings -------------------------------------------------------------

Status RingBackend::launch_packed(Prepared& prepared) {
  TRY(const auto& packing,
      pack(prepared.kernel, gpu_, ranges_, limits_.storage_buffers, largest_buffer_));
  if (packing.block_bytes == 0) return run_packed(prepared, packing);
  // The block has a buffer of its own, because a copy needs two different buffers.
  TRY(const auto& block, allocate_alone(packing.block_bytes));
  ranges_[packing.block].buffer = block.buffer;
  for (codegen::Operand& operand : gpu_.operands)
    if (operand.binding == packing.block) operand.heap = block.buffer;
  const Status sent = run_packed(prepared, packing);
  pool_->free(block);
  return sent;
}

Status RingBackend::run_packed(Prepared& prepared, const Packing& packing) {
  TRY(const auto& found, program(prepared));
  const ring::BufferId block = packing.pieces.empty() ? 0 : ranges_[packing.block].buffer;
  for (const PackedPiece& piece : packing.pieces) {
    TRY_DONE(writer_.copy(piece.buffer, piece.offset, block, piece.place, piece.bytes));
  }
  TRY_DONE(dispatch(prepared.kernel, *found));
  for (const PackedPiece& piece : packing.pieces) {
    if (!piece.written) continue;
    TRY_DONE(writer_.copy(block, piece.place, piece.buffer, piece.offset, piece.bytes));
  }
  return Done{};
}

}  // namespace arraycore
