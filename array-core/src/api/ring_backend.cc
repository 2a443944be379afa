#include "api/ring_backend.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/kernel_name.h"
#include "ir/verify.h"

namespace arraycore {

namespace {

// Uploads up to this size travel in the ring itself.
constexpr std::size_t kInlineBytes = 1024;
// Not a pooled buffer's number: scratch buffers of split reductions live for one launch.
constexpr ring::BufferId kScratchBuffer = 0x8000'0000;

}  // namespace

RingBackend::RingBackend(std::shared_ptr<RingMemory> memory, const std::byte* base,
                         std::unique_ptr<ring::Host> host)
    : memory_(std::move(memory)),
      host_(std::move(host)),
      writer_(memory_->control, memory_->ring, memory_->texts, base, *host_) {
  writer_.name_operations(*this);
}

RingBackend::~RingBackend() {
  // Whatever is wrong with the device, it is not this library's any more.
  static_cast<void>(writer_.close());
}

std::string RingBackend::name_of(std::uint32_t tag) const {
  return tag <= kernels_.size() ? operation_name(kernels_[tag - 1].kernel) : std::string();
}

Status RingBackend::finish() {
  const auto fence = writer_.fence();
  if (!fence) return fence.error();
  const Status done = writer_.wait(*fence);
  if (done) staged_ = 0;
  return done;
}

Status RingBackend::open(std::int64_t budget_bytes) {
  const Status ready = finish();
  if (!ready) return ready;
  const auto limit = [&](ring::Word word) { return memory_->control[word].load(); };
  limits_.storage_buffers = limit(ring::Word::max_storage_buffers);
  limits_.invocations = limit(ring::Word::max_invocations);
  limits_.groups = limit(ring::Word::max_grid);
  budget_bytes_ = budget_bytes;
  BufferSource& source = *this;
  pool_.emplace(source,
                PoolLimits{.budget_bytes = budget_bytes,
                           .largest_buffer = std::min(limit(ring::Word::max_buffer_bytes),
                                                      limit(ring::Word::max_binding_bytes))});
  return Done{};
}

Result<BufferId> RingBackend::create_buffer(std::int64_t bytes) {
  const Status created =
      writer_.create_buffer(buffers_ + 1, static_cast<std::uint32_t>(bytes), "arrays");
  if (!created) return created.error();
  return ++buffers_;
}

void RingBackend::destroy_buffer(BufferId buffer) {
  // With a lost device the buffer is gone already.
  static_cast<void>(writer_.destroy_buffer(buffer));
}

Result<StorageId> RingBackend::create_storage(std::int64_t bytes) {
  const auto region = pool_->allocate(bytes);
  if (!region) return region.error();
  if (free_.empty()) {
    storages_.push_back(*region);
    return static_cast<StorageId>(storages_.size());
  }
  const StorageId id = free_.back();
  free_.pop_back();
  storages_[id - 1] = *region;
  return id;
}

void RingBackend::destroy_storage(StorageId storage) {
  pool_->free(at(storage));
  free_.push_back(storage);
}

Status RingBackend::upload(StorageId storage, std::int64_t offset,
                           std::span<const std::byte> bytes) {
  const ring::BufferId buffer = at(storage).buffer;
  auto to = static_cast<std::uint32_t>(at(storage).offset + offset);
  if (bytes.size() <= kInlineBytes)
    return bytes.empty() ? Status(Done{}) : writer_.upload_inline(buffer, to, bytes);
  while (!bytes.empty()) {
    if (staged_ == RingMemory::kStagingBytes) {
      const Status free = finish();
      if (!free) return free;
    }
    const std::size_t part = std::min(bytes.size(), RingMemory::kStagingBytes - staged_);
    std::byte* const stage = memory_->staging.data() + staged_;
    std::memcpy(stage, bytes.data(), part);
    const Status sent =
        writer_.upload(buffer, to, writer_.address_of(stage), static_cast<std::uint32_t>(part));
    if (!sent) return sent;
    staged_ = std::min((staged_ + part + 15) / 16 * 16, RingMemory::kStagingBytes);
    to += static_cast<std::uint32_t>(part);
    bytes = bytes.subspan(part);
  }
  return Done{};
}

Status RingBackend::fill_zero(StorageId storage) {
  const Region& region = at(storage);
  return writer_.fill(region.buffer, static_cast<std::uint32_t>(region.offset),
                      static_cast<std::uint32_t>(region.bytes), 0);
}

Status RingBackend::download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) {
  if (!bytes.empty()) {
    const Status asked =
        writer_.read(at(storage).buffer, static_cast<std::uint32_t>(at(storage).offset + offset),
                     writer_.address_of(bytes.data()), static_cast<std::uint32_t>(bytes.size()));
    if (!asked) return asked;
  }
  return finish();
}

Result<KernelId> RingBackend::prepare(ir::Kernel kernel) {
  const Status verified = ir::verify(kernel);
  if (!verified) return verified.error();
  kernels_.push_back({std::move(kernel), {}});
  return static_cast<KernelId>(kernels_.size() - 1);
}

Status RingBackend::launch(const Launch& launch) {
  Prepared& prepared = kernels_[launch.kernel];
  codegen::Launch gpu;
  gpu.loop = launch.loop;
  gpu.reduced = launch.reduced;
  for (const LaunchArgument& argument : launch.arguments) {
    codegen::Operand& operand = gpu.operands.emplace_back();
    if (const auto* array = std::get_if<ArrayArgument>(&argument)) {
      const Region& region = at(array->storage);
      operand.binding = array->storage;
      operand.heap = region.buffer;
      operand.bytes = static_cast<std::uint64_t>(region.bytes);
      operand.view = array->view;
    } else {
      operand.scalar = *std::get_if<ir::Scalar>(&argument);
    }
  }
  const auto found = program(prepared, gpu);
  if (!found) return found.error();
  return dispatch(prepared, **found, gpu);
}

Result<const RingBackend::Program*> RingBackend::program(Prepared& prepared,
                                                         const codegen::Launch& launch) {
  auto plan = codegen::make_plan(prepared.kernel, launch, limits_);
  if (!plan) return plan.error();
  std::string key = plan->key();
  for (const Program& known : prepared.programs)
    if (known.key == key) return &known;
  auto wgsl = codegen::generate(prepared.kernel, *plan);
  if (!wgsl) return wgsl.error();
  Program program{std::move(key), std::move(*plan), std::move(*wgsl), {}};
  for (const codegen::WgslStage& stage : program.wgsl.stages) {
    std::uint32_t writable = 0;
    for (std::size_t i = 0; i < stage.bindings.size(); ++i)
      if (stage.bindings[i].access == codegen::BindingAccess::read_write) writable |= 1U << i;
    const ring::PipelineId id = ++pipelines_;
    const Status created = writer_.create_pipeline(
        id, {.wgsl = stage.text,
             .label = operation_name(prepared.kernel),
             .uniform_bytes = static_cast<std::uint32_t>(program.wgsl.uniforms.size() * 4),
             .bindings = static_cast<std::uint32_t>(stage.bindings.size()),
             .read_write_mask = writable});
    if (!created) return created.error();
    program.pipelines.push_back(id);
  }
  prepared.programs.push_back(std::move(program));
  return &prepared.programs.back();
}

Status RingBackend::dispatch(const Prepared& prepared, const Program& program,
                             const codegen::Launch& launch) {
  std::vector<ring::Binding> slots(program.plan.slots.size());
  for (std::size_t p = 0; p < launch.operands.size(); ++p) {
    if (prepared.kernel.params[p].kind == ir::ParamKind::scalar) continue;
    const codegen::Operand& operand = launch.operands[p];
    const Region& region = at(static_cast<StorageId>(operand.binding));
    slots[program.plan.params[p].slot] = {region.buffer, static_cast<std::uint32_t>(region.offset),
                                          static_cast<std::uint32_t>(region.bytes)};
  }
  const auto scratch_bytes = static_cast<std::uint32_t>(program.wgsl.scratch_bytes(launch));
  if (scratch_bytes > 0) {
    const Status created = writer_.create_buffer(kScratchBuffer, scratch_bytes, "scratch");
    if (!created) return created;
  }
  const std::vector<std::uint32_t> uniforms = program.wgsl.uniform_words(prepared.kernel, launch);
  for (std::size_t s = 0; s < program.wgsl.stages.size(); ++s) {
    const auto [x, y, z] = codegen::grid(prepared.kernel, program.plan, launch, s);
    if (x == 0 || y == 0 || z == 0) continue;
    std::vector<ring::Binding> bindings;
    for (const codegen::Binding& binding : program.wgsl.stages[s].bindings)
      bindings.push_back(binding.slot == codegen::kScratch
                             ? ring::Binding{kScratchBuffer, 0, scratch_bytes}
                             : slots[binding.slot]);
    const Status sent =
        writer_.dispatch({.tag = static_cast<std::uint32_t>(&prepared - kernels_.data()) + 1,
                          .pipeline = program.pipelines[s],
                          .x = x,
                          .y = y,
                          .z = z,
                          .bindings = bindings,
                          .uniforms = uniforms});
    if (!sent) return sent;
  }
  return scratch_bytes > 0 ? writer_.destroy_buffer(kScratchBuffer) : Status(Done{});
}

Status RingBackend::reset() {
  const Status done = writer_.reset();
  if (!done) return done;
  // Every buffer and pipeline is gone with the old device.
  staged_ = 0;
  storages_.clear();
  free_.clear();
  for (Prepared& prepared : kernels_) prepared.programs.clear();
  return open(budget_bytes_);
}

}  // namespace arraycore
