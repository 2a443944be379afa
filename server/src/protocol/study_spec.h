// What a researcher submits (server/docs/rest.md, "study spec"), after validation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages.h"

namespace hyperflock::protocol {

enum class Direction { minimize, maximize };
// Where a study's trials come from: the points of its space, or its owner (R44).
enum class StudyKind { grid, asked };

// One name of a grid. Texts are canonical JSON, so that the dispatcher can write parameters without
// a JSON library and each kind is kept (R5).
struct Dimension {
  std::string name_json;                 // a quoted JSON string
  std::vector<std::string> values_json;  // scalars, at least one
  bool operator==(const Dimension&) const = default;
};

// What a study asks of its devices beyond its back end; nothing where 0 or false.
struct Requirements {
  std::int64_t memory_mb = 0;
  std::int64_t cores = 0;
  std::int64_t buffer_mb = 0;  // of one array on the GPU
  bool f16 = false;
  bool graphics_card = false;  // WebGPU that is no program on the CPU
  bool operator==(const Requirements&) const = default;
};

struct StudySpec {
  std::string name;
  std::string submit_key;  // idempotency key, unique per owner
  Direction direction = Direction::minimize;
  std::string entry;
  BlobRef bundle;
  std::vector<Dimension> space;
  std::vector<DataRef> data;
  std::int64_t seed = 0;
  std::string chainer;
  Millis time_limit_ms = 0;
  Millis stall_ms = 0;
  std::string provenance_json;     // an object, kept as it came
  std::string project{};           // empty: the owner's first
  std::string backend{};           // auto, webgpu or cpu; empty: the trials ask for no device
  Requirements requires_device{};  // "requires" on the wire
  StudyKind kind = StudyKind::grid;
  std::vector<Direction> directions{};  // of an asked study; the first is `direction`
  bool operator==(const StudySpec&) const = default;
};

// Whether only a device with WebGPU may run the study's trials: it asks for the back end, or for
// something that only a graphics device has.
bool needs_webgpu(const StudySpec& spec);

// Why a device cannot run the study's trials (R40), as a code of protocol.md; empty: it can.
std::string_view unmet(const StudySpec& spec, const Capabilities& device);

// Number of points of the grid; 0 when it exceeds kMaxWireInteger.
std::int64_t grid_size(const std::vector<Dimension>& space);

// Point `number` as JSON text, the last name varying fastest (R30). REQUIRES: 0 <= number <
// grid_size(space).
std::string grid_point(const std::vector<Dimension>& space, std::int64_t number);

// The seed of a trial (R32).
std::uint32_t trial_seed(std::int64_t study_seed, std::int64_t number);

}  // namespace hyperflock::protocol
