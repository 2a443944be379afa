// See study_spec.h.
#include "protocol/study_spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/ids.h"
#include "protocol/sampling.h"

namespace hyperflock::protocol {

namespace {

// A part of a grid. Each name has two indices: that of its first value, and one more than that of
// its last value.
using Box = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::int64_t size_of(const Box& box) {
  std::int64_t size = 1;
  for (const auto& [first, end] : box) size *= end - first;
  return size;
}

// Returns the shortest text of the number.
std::string text_of(double value) {
  std::array<char, 32> out{};
  const auto end = std::to_chars(out.data(), out.data() + out.size(), value).ptr;
  return {out.data(), end};
}

// Returns point `number` of a box as JSON text; the last name varies fastest.
std::string point_of(const std::vector<Dimension>& space, const Box& box, std::int64_t number) {
  // The stride of a name is the number of points that the names after it span.
  std::int64_t stride = size_of(box);
  std::string out = "{";
  for (std::size_t d = 0; d < space.size(); ++d) {
    const std::int64_t count = box[d].second - box[d].first;
    stride /= count;
    if (out.size() > 1) out += ',';
    out += space[d].name_json;
    out += ':';
    out += space[d].values_json[static_cast<std::size_t>(box[d].first + number / stride % count)];
  }
  return out += '}';
}

// Returns point `number` of a grid that was extended (R65). The points of the first space come
// first. What an extension adds is one box for each name with new values: these values with the
// earlier values of the names before it, and with all values of the names after it. So each point
// of the larger space is in exactly one box.
std::string grown_point(const StudySpec& spec, std::int64_t number) {
  const std::size_t names = spec.space.size();
  Box box;
  for (const std::int64_t count : spec.grown.front().values) box.emplace_back(0, count);
  if (number < size_of(box)) return point_of(spec.space, box, number);
  number -= size_of(box);
  for (std::size_t i = 0; i < spec.grown.size(); ++i) {
    const std::vector<std::int64_t>& before = spec.grown[i].values;
    const auto after = [&](std::size_t d) {
      return i + 1 < spec.grown.size()
                 ? spec.grown[i + 1].values[d]
                 : static_cast<std::int64_t>(spec.space[d].values_json.size());
    };
    for (std::size_t added = 0; added < names; ++added) {
      for (std::size_t d = 0; d < names; ++d)
        box[d] = {d == added ? before[d] : 0, d < added ? before[d] : after(d)};
      const std::int64_t size = size_of(box);
      if (number < size) return point_of(spec.space, box, number);
      number -= size;
    }
  }
  return {};  // REQUIRES excludes this
}

Error space_changed(const std::string& what) {
  return Error{"space_changed",
               what + "; an extended space keeps every name and every value of the study's space.",
               "space"};
}

const Dimension* find_name(const std::vector<Dimension>& space, const std::string& name_json) {
  const auto found = std::find_if(space.begin(), space.end(),
                                  [&](const Dimension& one) { return one.name_json == name_json; });
  return found == space.end() ? nullptr : &*found;
}

// Checks that both spaces have the same names.
Status same_names(const std::vector<Dimension>& space, const std::vector<Dimension>& more) {
  for (const Dimension& dimension : space) {
    if (find_name(more, dimension.name_json) == nullptr)
      return space_changed("The name " + dimension.name_json + " is missing");
  }
  if (more.size() != space.size()) return space_changed("There is a further name");
  return {};
}

// Returns the indices of the texts of `more` that `known` lacks. A text counts as often as it
// occurs. If `more` lacks a text of `known`, sets `lost` to this text and returns nullopt.
std::optional<std::vector<std::size_t>> new_ones(const std::vector<std::string>& known,
                                                 const std::vector<std::string>& more,
                                                 std::string& lost) {
  std::map<std::string, std::int64_t> left;
  for (const std::string& text : known) ++left[text];
  std::vector<std::size_t> added;
  for (std::size_t i = 0; i < more.size(); ++i) {
    const auto found = left.find(more[i]);
    if (found == left.end() || found->second == 0) {
      added.push_back(i);
    } else {
      --found->second;
    }
  }
  for (const std::string& text : known) {
    if (left.at(text) == 0) continue;
    lost = text;
    return std::nullopt;
  }
  return added;
}

Result<StudySpec> extended_grid(const StudySpec& spec, const std::vector<Dimension>& more) {
  TRY(same_names(spec.space, more));
  StudySpec out = spec;
  Grown before;
  bool grows = false;
  for (Dimension& dimension : out.space) {
    const std::vector<std::string>& given = find_name(more, dimension.name_json)->values_json;
    before.values.push_back(static_cast<std::int64_t>(dimension.values_json.size()));
    std::string lost;
    const auto added = new_ones(dimension.values_json, given, lost);
    if (!added) return space_changed(dimension.name_json + " has lost the value " + lost);
    grows |= !added->empty();
    for (const std::size_t i : *added) dimension.values_json.push_back(given[i]);
  }
  if (!grows) return spec;
  if (grid_size(out.space) == 0)
    return Error{"space_too_large", "The space may have at most 2^53-1 points; split it.", "space"};
  out.grown.push_back(std::move(before));
  return out;
}

Result<StudySpec> extended_points(const StudySpec& spec, const std::vector<Dimension>& more) {
  TRY(same_names(spec.space, more));
  // The points of a space as texts, with the names in the order of the study's space.
  const auto points_of = [&spec](const std::vector<Dimension>& space) {
    std::vector<std::string> points(space.front().values_json.size());
    for (const Dimension& dimension : spec.space) {
      const Dimension& one = *find_name(space, dimension.name_json);
      for (std::size_t i = 0; i < points.size(); ++i)
        points[i] += (points[i].empty() ? "" : ", ") + one.name_json + ": " + one.values_json[i];
    }
    return points;
  };
  std::string lost;
  const auto added = new_ones(points_of(spec.space), points_of(more), lost);
  if (!added) return space_changed("The point " + lost + " is missing");
  StudySpec out = spec;
  for (Dimension& dimension : out.space) {
    const Dimension& given = *find_name(more, dimension.name_json);
    for (const std::size_t i : *added) dimension.values_json.push_back(given.values_json[i]);
  }
  return out;
}

}  // namespace

std::optional<Failure> out_of_range(const StudySpec& spec, const TrialResult& result) {
  if (result.outcome != Outcome::complete) return std::nullopt;
  const std::size_t count = std::min(spec.value_range.size(), result.values.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Bounds& range = spec.value_range[i];
    const double value = result.values[i];
    const bool is_low = range.low && value < *range.low;
    if (!is_low && !(range.high && value > *range.high)) continue;
    std::string message = "The value " + text_of(value);
    if (count > 1) message += " of direction " + std::to_string(i + 1);
    message += is_low ? " is below " + text_of(*range.low) + ", the lowest of the study's range."
                      : " is above " + text_of(*range.high) + ", the highest of the study's range.";
    return Failure{Cause::invalid, std::string(kValueOutOfRange), std::move(message), ""};
  }
  return std::nullopt;
}

bool needs_graphics(const StudySpec& spec) {
  const Requirements& wanted = spec.requires_device;
  return spec.backend == "webgpu" || spec.backend == "webgl2" || wanted.graphics_card ||
         wanted.f16 || wanted.buffer_mb > 0;
}

DeviceNeeds device_needs(const StudySpec& spec) {
  const bool webgl2 = spec.backend == "webgl2";
  return {needs_graphics(spec) && !webgl2, webgl2, spec.requires_device};
}

std::string_view unmet(const DeviceNeeds& needs, const Capabilities& device) {
  const Requirements& wanted = needs.required;
  const auto& gpu = device.gpu;
  const auto& backends = device.backends;
  const auto has = [&](std::string_view backend) {
    return gpu && std::find(backends.begin(), backends.end(), backend) != backends.end();
  };
  if (needs.webgpu && !has("webgpu")) return "no_webgpu";
  if (needs.webgl2 && !has("webgl2")) return "no_webgl2";
  if (wanted.graphics_card && gpu->software) return "no_graphics_card";
  if (wanted.f16 && !gpu->f16) return "no_f16";
  if (wanted.buffer_mb > 0 && gpu->buffer_mb < wanted.buffer_mb) return "small_buffers";
  if (device.memory_mb < wanted.memory_mb) return "little_memory";
  if (device.cores < wanted.cores) return "few_cores";
  return {};
}

std::string_view unmet(const StudySpec& spec, const Capabilities& device) {
  return unmet(device_needs(spec), device);
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
  Box all;
  for (const Dimension& dimension : space)
    all.emplace_back(0, static_cast<std::int64_t>(dimension.values_json.size()));
  return point_of(space, all, number);
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
  if (spec.kind == StudyKind::grid)
    return spec.grown.empty() ? grid_point(spec.space, number) : grown_point(spec, number);
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

Error no_failed_trial() {
  return {"no_failed_trial",
          "No trial of the study has failed, so no other code is needed: the study keeps its "
          "code."};
}

Error not_a_grid() {
  return {"not_a_grid", "The owner of the study asks for its trials: let it ask for more."};
}

std::vector<BlobRef> blobs_of(const StudySpec& spec) {
  std::vector<BlobRef> blobs{spec.bundle};
  for (const DataRef& data : spec.data) blobs.push_back(data.blob);
  return blobs;
}

bool runs_code(const StudySpec& spec, const NewCode& code) {
  return spec.entry == code.entry && spec.bundle == code.bundle && spec.data == code.data;
}

StudySpec with_code(StudySpec spec, const NewCode& code, const std::string& runtime_index) {
  spec.entry = code.entry;
  spec.bundle = code.bundle;
  spec.data = code.data;
  spec.versions = code.versions;
  spec.packs = code.packs;
  spec.runtime_index = runtime_index;
  spec.provenance_json = code.provenance_json;
  return spec;
}

Result<StudySpec> extended(const StudySpec& spec, const Extension& more) {
  switch (spec.kind) {
    case StudyKind::grid:
      return extended_grid(spec, more.space);
    case StudyKind::points:
      return extended_points(spec, more.space);
    case StudyKind::random:
    case StudyKind::sobol: {
      if (more.space != spec.space)
        return space_changed("The space of a random or Sobol study differs");
      if (more.trials < spec.trials)
        return Error{"space_changed",
                     "The study has " + std::to_string(spec.trials) +
                         " trials already: give that number or a larger one.",
                     "space"};
      StudySpec out = spec;
      out.trials = more.trials;
      return out;
    }
    case StudyKind::asked:
      break;
  }
  return not_a_grid();
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
