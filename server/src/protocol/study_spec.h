// Functions of a study spec: which devices can run it (R40), the points of its trials (R30, R60)
// and their seeds (R32).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/messages.h"

namespace hyperflock::protocol {

// Returns whether only a device with a graphics device may run the study's trials: the study
// requires WebGPU or WebGL2, or something that only a graphics device has.
bool needs_graphics(const StudySpec& spec);

// What a study needs of a device (R40). Studies with equal needs can run on the same devices.
struct DeviceNeeds {
  bool webgpu = false;
  bool webgl2 = false;
  Requirements required{};
};
DeviceNeeds device_needs(const StudySpec& spec);

// Returns a code of protocol.md that says why a device cannot run the trials of a study with these
// needs, or of this study (R40); empty if it can.
std::string_view unmet(const DeviceNeeds& needs, const Capabilities& device);
std::string_view unmet(const StudySpec& spec, const Capabilities& device);

// Returns the number of points of the grid; 0 if it exceeds kMaxWireInteger.
std::int64_t grid_size(const std::vector<Dimension>& space);

// Returns point `number` as JSON text; the last parameter varies fastest (R30). REQUIRES: 0 <=
// number < grid_size(space).
std::string grid_point(const std::vector<Dimension>& space, std::int64_t number);

// The code of the failure of an attempt, or of a trial, whose value is outside of the study's range
// (R73).
inline constexpr std::string_view kValueOutOfRange = "value_out_of_range";

// Returns the failure of a complete result of which a value is outside of the study's range;
// nullopt for any other result.
std::optional<Failure> out_of_range(const StudySpec& spec, const TrialResult& result);

// Returns the number of trials that the spec describes; 0 for an ask-and-tell study.
std::int64_t trial_count(const StudySpec& spec);

// Returns the parameters of a trial as JSON text. REQUIRES: 0 <= number < trial_count(spec).
std::string trial_params(const StudySpec& spec, std::int64_t number);

// Returns what devices fetch for a trial: the bundle first, and then the data in their order. The
// same blob may be returned twice.
std::vector<BlobRef> blobs_of(const StudySpec& spec);

// Returns whether the spec runs this code already.
bool runs_code(const StudySpec& spec, const NewCode& code);

// The error for a request that gives new code to a study without failed trials (R64).
Error no_failed_trial();
// The error for extending an ask-and-tell study or issuing its trials again. Such a study has only
// the trials that its owner asks for.
Error not_a_grid();

// Returns the spec with this code in place of its own (R64).
StudySpec with_code(StudySpec spec, const NewCode& code, const std::string& runtime_index);

// An extension of a study (R65): a space with more values, or a larger number of trials.
struct Extension {
  std::vector<Dimension> space;
  std::int64_t trials = 0;  // of a random or Sobol study
};

// Returns the spec with the new parts of the extension appended: values that its space lacks,
// points that its list lacks, or further trials. So the trials of the spec keep their numbers and
// points. If nothing is new, it returns the spec as it is. Errors: `space_changed` if the extension
// lacks a name or a value of the spec's space or has a further name, `space_too_large`,
// `not_a_grid`.
Result<StudySpec> extended(const StudySpec& spec, const Extension& more);

// Returns the seed of a trial (R32).
std::uint32_t trial_seed(std::int64_t study_seed, std::int64_t number);

}  // namespace hyperflock::protocol
