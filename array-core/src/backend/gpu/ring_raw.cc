// Runs kernels of a user's own WGSL on the ring. They are checked before anything is sent, because
// the device reports errors late.
#include <algorithm>
#include <string>
#include <utility>

#include "backend/gpu/ring_backend.h"

namespace arraycore {

Result<KernelId> RingBackend::prepare_raw(const RawText& text) {
  if (has_passes_)
    return Error{ErrorKind::not_implemented, "no_raw_kernels",
                 "A RawKernel is WGSL, which WebGL2 does not run: write an ElementwiseKernel."};
  const auto refuse = [&](const std::string& what) {
    return Error{ErrorKind::value, "raw_limits", "kernel '" + text.name + "' " + what + "."};
  };
  if (text.bindings > limits_.storage_buffers)
    return refuse("binds " + std::to_string(text.bindings) + " arrays; this device binds " +
                  std::to_string(limits_.storage_buffers));
  if (text.uniform_bytes > ring::kMaxUniformWords * 4)
    return refuse("takes " + std::to_string(text.uniform_bytes) + " bytes of uniforms; " +
                  std::to_string(ring::kMaxUniformWords * 4) + " are the most");
  if (text.wgsl.size() + text.name.size() > RingMemory::kTextBytes)
    return refuse("has " + std::to_string(text.wgsl.size()) + " bytes of text; " +
                  std::to_string(RingMemory::kTextBytes) + " are the most");
  raws_.push_back({text, 0});
  return static_cast<KernelId>(raws_.size() - 1);
}

Status RingBackend::launch_raw(const RawLaunch& launch) {
  Raw& raw = raws_[launch.kernel];
  const auto refuse = [&](const char* code, const std::string& what) {
    return Error{ErrorKind::value, code, "kernel '" + raw.text.name + "' " + what + "."};
  };
  if (launch.bindings.size() != raw.text.bindings)
    return refuse("raw_arguments", "binds " + std::to_string(raw.text.bindings) +
                                       " arrays and was called with " +
                                       std::to_string(launch.bindings.size()));
  if (launch.uniforms.size() != (raw.text.uniform_bytes + 3) / 4)
    return refuse("raw_arguments", "takes " + std::to_string(raw.text.uniform_bytes) +
                                       " bytes of uniforms and was called with " +
                                       std::to_string(launch.uniforms.size() * 4));
  for (const std::uint32_t groups : launch.groups) {
    if (groups > limits_.groups)
      return refuse("raw_grid", "was called with a grid of " + std::to_string(groups) +
                                    " workgroups along an axis; this device takes " +
                                    std::to_string(limits_.groups));
    if (groups == 0) return Done{};
  }
  const auto is_written = [&](std::size_t i) { return (raw.text.read_write_mask >> i & 1) != 0; };
  for (std::size_t i = 0; i < launch.bindings.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (launch.bindings[i] == launch.bindings[j] && (is_written(i) || is_written(j)))
        return refuse("raw_alias", "was called with one array as its bindings " +
                                       std::to_string(j + 1) + " and " + std::to_string(i + 1) +
                                       ", and one of them is written: pass a copy");
  if (raw.pipeline == 0) {
    const ring::PipelineId id = pipelines_ + 1;
    TRY_DONE(writer_.create_pipeline(id, {.text = raw.text.wgsl,
                                          .label = raw.text.name,
                                          .uniform_bytes = raw.text.uniform_bytes,
                                          .bindings = raw.text.bindings,
                                          .read_write_mask = raw.text.read_write_mask}));
    raw.pipeline = pipelines_ = id;
  }
  std::vector<Region> copies;
  const Status sent = dispatch_raw(raw, launch, copies);
  for (const Region& copy : copies) pool_->free(copy);
  return sent;
}

// Products of matrices use the library's own shaders, which are launched like users' shaders.
Status RingBackend::launch_gemm(const GemmLaunch& launch) {
  if (has_passes_) return no_gemm();
  const ring::ControlBlock& control = memory_->control;
  gemm::Device device;
  device.invocations = limits_.invocations;
  device.groups = limits_.groups;
  device.workgroup_bytes =
      std::max(device.workgroup_bytes, control[ring::Word::max_workgroup_bytes].load());
  device.software =
      (device_flags() & static_cast<std::uint32_t>(ring::Capability::fallback_adapter)) != 0;
  const gemm::Problem& problem = launch.problem;
  const double flop = 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                      static_cast<double>(problem.k) * static_cast<double>(problem.batches());
  // While a block is recorded, the device's speed is not measured, so that the block contains only
  // this launch.
  TRY(const auto& most, recording_ ? Result<double>(pace_.most_flop())
                                   : pace_.most_flop(flop, *this, gemm_, device, *host_));
  device.most_flop = most;
  return gemm_.launch(launch, device);
}

// One dispatch cannot bind a buffer both for reading and for writing. So an array that is only read
// is copied if it shares its heap with a written one.
Status RingBackend::dispatch_raw(const Raw& raw, const RawLaunch& launch,
                                 std::vector<Region>& copies) {
  const auto is_written = [&](std::size_t i) { return (raw.text.read_write_mask >> i & 1) != 0; };
  bindings_.clear();
  for (std::size_t i = 0; i < launch.bindings.size(); ++i) {
    Region region = at(launch.bindings[i]);
    // Rounding up is safe, because every buffer and every slot of a heap is a multiple of 256
    // bytes.
    const std::int64_t whole = raw.text.whole_vectors ? 16 : 4;
    const auto bytes = static_cast<std::uint32_t>((region.bytes + whole - 1) / whole * whole);
    bool shared = false;
    for (std::size_t j = 0; j < launch.bindings.size(); ++j)
      shared = shared || (is_written(j) && at(launch.bindings[j]).buffer == region.buffer);
    if (shared && !is_written(i)) {
      TRY(const auto& copy, allocate_alone(region.bytes));
      copies.push_back(copy);
      TRY_DONE(writer_.copy(region.buffer, static_cast<std::uint32_t>(region.offset), copy.buffer,
                            static_cast<std::uint32_t>(copy.offset), bytes));
      region = copy;
    }
    bindings_.push_back({region.buffer, static_cast<std::uint32_t>(region.offset), bytes});
  }
  return writer_.dispatch({.tag = kRawTag | launch.kernel,
                           .pipeline = raw.pipeline,
                           .x = launch.groups[0],
                           .y = launch.groups[1],
                           .z = launch.groups[2],
                           .bindings = bindings_,
                           .uniforms = launch.uniforms});
}

}  // namespace arraycore
