// Builds the curve of an attempt that may have continued from a checkpoint. The curve has the
// attempt's own points. Before them are the points of the attempt that saved the checkpoint, up to
// the checkpoint's step. That attempt may have continued from a checkpoint too. Pure; any thread.
//
//   Lineage lineage(attempt);
//   while (const auto id = lineage.wanted()) {
//     for (point of id) lineage.add(point);
//     lineage.go_on(from of id);
//   }
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "storage/records.h"

namespace hyperflock::storage {

class Lineage {
 public:
  explicit Lineage(const AttemptRow& attempt) : wanted_(attempt.id) {}

  // Returns the attempt whose points come next; nothing when the curve is complete.
  std::optional<AttemptId> wanted() const { return wanted_; }

  // Adds a point, unless a later attempt reported the same step too.
  void add(const protocol::Point& point) {
    if (!most_ || point.step <= *most_) points_.emplace(point.step, point.value);
  }

  // The current attempt began from the checkpoint `from`. Continues with the attempt that saved it.
  void go_on(const std::optional<protocol::Checkpoint>& from) {
    wanted_.reset();
    if (!from || !from->step) return;
    wanted_ = from->attempt;
    most_ = most_ ? std::min(*most_, *from->step) : *from->step;
  }

  std::vector<protocol::Point> points() const {
    std::vector<protocol::Point> out;
    out.reserve(points_.size());
    for (const auto& [step, value] : points_) out.push_back({step, value});
    return out;
  }

 private:
  std::optional<AttemptId> wanted_;
  std::optional<std::int64_t> most_;  // points of later steps are ignored; nothing: no limit
  std::map<std::int64_t, double> points_;
};

}  // namespace hyperflock::storage
