// Strong integer identifiers. In messages each is a JSON integer in 1..2^53-1 (trial numbers
// 0..2^53-1).
#pragma once

#include <cstdint>
#include <functional>

namespace hyperflock {

enum class StudyId : std::int64_t {};
enum class AttemptId : std::int64_t {};
enum class TrialNumber : std::int64_t {};
enum class SessionId : std::uint64_t {};
enum class RequestId : std::uint64_t {};

template <typename Id>
constexpr auto to_int(Id id) {
  return static_cast<std::underlying_type_t<Id>>(id);
}

struct TrialKey {
  StudyId study{};
  TrialNumber number{};
  auto operator<=>(const TrialKey&) const = default;
};

inline constexpr std::int64_t kMaxWireInteger = (std::int64_t{1} << 53) - 1;

}  // namespace hyperflock
