// Writes the study and trial rows of rest.md as JSON text, for REST and for the updates of a watch.
// Pure; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dispatch/estimate.h"
#include "storage/records.h"

namespace hyperflock::http {

enum class Detail { row, curve, full };  // curve: with points; full: with attempts_list too
enum class Sampler { away, attached };   // whether the owner of an ask-and-tell study is connected
// whole: with values and ranges. A space may have hundreds of KiB, and it changes only when the
// study is extended, so a client that has it asks for names.
enum class Space { whole, names };

// Limits the curves in one answer: their number, because each is read by a query of its own, and
// their points, which are written. Rows beyond the limit have no curve. A client can request such a
// trial by its number.
class CurveRoom {
 public:
  static constexpr std::size_t kCurves = 500;
  static constexpr std::size_t kPoints = 50'000;

  bool is_left() const { return curves_ < kCurves && points_ < kPoints; }
  void take(std::size_t points) {
    ++curves_;
    points_ += std::min(points, kPoints);
  }

 private:
  std::size_t curves_ = 0;
  std::size_t points_ = 0;
};

// Returns how many trials of the study have no outcome yet; nullopt if that is not known, because
// the study's owner has not said how many trials it wants.
std::optional<std::int64_t> open_trials(const storage::StudyRow& row);

// The decision of an administrator because of which no trial of a study is leased (R67, R68).
struct Held {
  std::string_view code{};  // empty: it is not held
  std::string reason{};     // may be empty
};

// `stop`: what stops the study. A study that has ended is held only if it was refused.
Held held_of(const storage::StudyRow& row, const storage::Stop& stop);

// `estimate` is written only for a study that runs.
std::string study_row_json(const storage::StudyRow& row, Sampler sampler = Sampler::away,
                           const dispatch::Estimate& estimate = {}, const Held& held = {},
                           Space space = Space::whole);
std::string trial_row_json(const storage::TrialDetail& detail, Detail amount = Detail::row);

}  // namespace hyperflock::http
