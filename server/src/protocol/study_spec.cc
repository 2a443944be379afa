// See study_spec.h.
#include "protocol/study_spec.h"

#include <algorithm>

#include "base/ids.h"
#include "protocol/sampling.h"

namespace hyperflock::protocol {

bool needs_webgpu(const StudySpec& spec) {
  const Requirements& wanted = spec.requires_device;
  return spec.backend == "webgpu" || wanted.graphics_card || wanted.f16 || wanted.buffer_mb > 0;
}

std::string_view unmet(const StudySpec& spec, const Capabilities& device) {
  const Requirements& wanted = spec.requires_device;
  const auto& gpu = device.gpu;
  const auto& backends = device.backends;
  const bool has_webgpu =
      gpu && std::find(backends.begin(), backends.end(), "webgpu") != backends.end();
  if (needs_webgpu(spec) && !has_webgpu) return "no_webgpu";
  if (wanted.graphics_card && gpu->software) return "no_graphics_card";
  if (wanted.f16 && !gpu->f16) return "no_f16";
  if (wanted.buffer_mb > 0 && gpu->buffer_mb < wanted.buffer_mb) return "small_buffers";
  if (device.memory_mb < wanted.memory_mb) return "little_memory";
  if (device.cores < wanted.cores) return "few_cores";
  return {};
}

std::int64_t grid_size(const std::vector<Dimension>& space) {
  std::int64_t size = 1;
  for (const Dimension& dimension : space) {
    const auto count = static_cast<std::int64_t>(dimension.values_json.size());
    if (count == 0 || size > kMaxWireInteger / count) return 0;
    size *= count;
  }
  return size;
}

std::string grid_point(const std::vector<Dimension>& space, std::int64_t number) {
  // The stride of a parameter is the number of points that the parameters after it span.
  std::int64_t stride = grid_size(space);
  std::string out = "{";
  for (const Dimension& dimension : space) {
    const auto count = static_cast<std::int64_t>(dimension.values_json.size());
    stride /= count;
    if (out.size() > 1) out += ',';
    out += dimension.name_json;
    out += ':';
    out += dimension.values_json[static_cast<std::size_t>(number / stride % count)];
  }
  return out += '}';
}

std::int64_t trial_count(const StudySpec& spec) {
  switch (spec.kind) {
    case StudyKind::grid:
      return grid_size(spec.space);
    case StudyKind::points:
      return static_cast<std::int64_t>(spec.space.front().values_json.size());
    case StudyKind::random:
    case StudyKind::sobol:
      return spec.trials;
    case StudyKind::asked:
      break;
  }
  return 0;
}

std::string trial_params(const StudySpec& spec, std::int64_t number) {
  if (spec.kind == StudyKind::grid) return grid_point(spec.space, number);
  if (spec.kind != StudyKind::points)
    return sampled_point(spec.kind, spec.seed, spec.space, number);
  std::string out = "{";
  for (const Dimension& dimension : spec.space) {
    if (out.size() > 1) out += ',';
    out += dimension.name_json;
    out += ':';
    out += dimension.values_json[static_cast<std::size_t>(number)];
  }
  return out += '}';
}

std::uint32_t trial_seed(std::int64_t study_seed, std::int64_t number) {
  std::uint64_t z = static_cast<std::uint64_t>(study_seed) + static_cast<std::uint64_t>(number) +
                    0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  z ^= z >> 31;
  return static_cast<std::uint32_t>(z >> 32);
}

}  // namespace hyperflock::protocol
