// The enumerations of messages.h and study_spec.h and their names on the wire: one table each, read
// in both directions. Pure; any thread.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "protocol/messages.h"
#include "protocol/study_spec.h"

namespace hyperflock::protocol {

template <typename Enum>
struct Names;  // kTable: the names in the order of the enumerators, which count from 0

template <>
struct Names<Role> {
  static constexpr std::array<std::string_view, 2> kTable{"device", "researcher"};
};
template <>
struct Names<PulseState> {
  static constexpr std::array<std::string_view, 3> kTable{"loading", "running", "waiting_call"};
};
template <>
struct Names<Outcome> {
  static constexpr std::array<std::string_view, 3> kTable{"complete", "pruned", "failed"};
};
template <>
struct Names<Cause> {
  static constexpr std::array<std::string_view, 7> kTable{
      "worker_lost", "user_error", "out_of_memory", "device_lost",
      "timeout",     "invalid",    "cancelled"};
};
template <>
struct Names<AttemptKind> {
  static constexpr std::array<std::string_view, 3> kTable{"primary", "duplicate", "replica"};
};
template <>
struct Names<ReleaseReason> {
  static constexpr std::array<std::string_view, 5> kTable{"page_hidden", "stopped", "shutdown",
                                                          "cannot_run", "no_owner"};
};
template <>
struct Names<WaitReason> {
  static constexpr std::array<std::string_view, 4> kTable{"no_work", "no_matching_work", "draining",
                                                          "read_only"};
};
template <>
struct Names<Verdict> {
  static constexpr std::array<std::string_view, 3> kTable{"accepted", "evidence", "recorded"};
};
template <>
struct Names<RevokeCode> {
  static constexpr std::array<std::string_view, 5> kTable{"cancelled", "timeout", "stalled",
                                                          "superseded", "device_revoked"};
};
template <>
struct Names<CheckpointFormat> {
  static constexpr std::array<std::string_view, 2> kTable{"tree", "npz"};
};
template <>
struct Names<Direction> {
  static constexpr std::array<std::string_view, 2> kTable{"minimize", "maximize"};
};

template <>
struct Names<StudyKind> {
  static constexpr std::array<std::string_view, 2> kTable{"grid", "asked"};
};

template <typename Enum>
constexpr std::string_view name_of(Enum value) {
  return Names<Enum>::kTable[static_cast<std::size_t>(value)];
}

template <typename Enum>
constexpr std::optional<Enum> from_name(std::string_view name) {
  for (std::size_t i = 0; i < Names<Enum>::kTable.size(); ++i) {
    if (Names<Enum>::kTable[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// The last enumerator of each table: a new enumerator without a name does not compile.
static_assert(name_of(Role::researcher) == "researcher");
static_assert(name_of(PulseState::waiting_call) == "waiting_call");
static_assert(name_of(Outcome::failed) == "failed");
static_assert(name_of(Cause::cancelled) == "cancelled");
static_assert(name_of(AttemptKind::replica) == "replica");
static_assert(name_of(ReleaseReason::no_owner) == "no_owner");
static_assert(name_of(WaitReason::read_only) == "read_only");
static_assert(name_of(Verdict::recorded) == "recorded");
static_assert(name_of(RevokeCode::device_revoked) == "device_revoked");
static_assert(name_of(CheckpointFormat::npz) == "npz");
static_assert(name_of(Direction::maximize) == "maximize");
static_assert(name_of(StudyKind::asked) == "asked");

}  // namespace hyperflock::protocol
