// The names of states in rows, in webhooks and in the reference model's texts. Pure; any thread.
#pragma once

#include <array>
#include <string_view>

#include "protocol/schema/name_table.h"
#include "storage/records.h"
#include "storage/rules.h"

namespace hyperflock::protocol {

template <>
struct Names<storage::StudyState> {
  static constexpr std::array<std::string_view, 3> kTable{"running", "finished", "cancelled"};
};
template <>
struct Names<storage::TrialState> {
  static constexpr std::array<std::string_view, 5> kTable{"running", "complete", "pruned", "failed",
                                                          "cancelled"};
};
template <>
struct Names<storage::AttemptState> {
  static constexpr std::array<std::string_view, 7> kTable{
      "live", "accepted", "evidence", "failed", "released", "expired", "revoked"};
};
template <>
struct Names<storage::DeliveryState> {
  static constexpr std::array<std::string_view, 3> kTable{"waiting", "delivered", "failed"};
};
template <>
struct Names<storage::CeilingScope> {
  static constexpr std::array<std::string_view, 3> kTable{"server", "researcher", "project"};
};

}  // namespace hyperflock::protocol
