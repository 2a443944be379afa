// Finds the best trials of a study (R57). Every back end uses these functions. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "storage/records.h"

namespace hyperflock::storage {

// A complete trial that meets its constraints, so it may be one of the best.
struct Candidate {
  TrialNumber number{};
  std::vector<double> values;
  bool operator==(const Candidate&) const = default;
};

// Makes the trial the best one of a study with one direction, if it is better than the present one.
// The lowest number wins a tie. Returns whether the trial is the best now.
inline bool offer_best(StudyRow& study, const Candidate& one) {
  const double value = one.values.front();
  const double best = study.best_value;
  const bool minimize = study.spec.direction == protocol::Direction::minimize;
  const bool wins = !study.best_trial || (minimize ? value < best : value > best) ||
                    (value == best && one.number < *study.best_trial);
  if (!wins) return false;
  study.best_trial = one.number;
  study.best_value = value;
  return true;
}

// As offer_best(), and returns whether the trial has a better value than the best one so far. The
// first trial of a study has no best one to be better than.
inline bool moves_best(StudyRow& study, const Candidate& one) {
  const bool is_first = !study.best_trial;
  const double best = study.best_value;
  return offer_best(study, one) && !is_first && study.best_value != best;
}

// Returns whether `one` is at least as good as `other` in each direction, and better in at least
// one.
inline bool beats(const std::vector<protocol::Direction>& directions, const Candidate& one,
                  const Candidate& other) {
  bool better = false;
  for (std::size_t i = 0; i < directions.size(); ++i) {
    double mine = one.values[i];
    double its = other.values[i];
    if (directions[i] == protocol::Direction::maximize) std::swap(mine, its);
    if (mine > its) return false;
    better |= mine < its;
  }
  return better;
}

// Adds the trial to `front`, the trials that no other one beats. The trials that it beats leave
// `front`, and their numbers go to `beaten`. Returns false if another trial beats it.
inline bool offer_to_front(std::vector<Candidate>& front,
                           const std::vector<protocol::Direction>& directions, Candidate one,
                           std::vector<TrialNumber>& beaten) {
  const auto beats_it = [&](const Candidate& other) { return beats(directions, other, one); };
  if (std::ranges::any_of(front, beats_it)) return false;
  std::erase_if(front, [&](const Candidate& other) {
    if (!beats(directions, one, other)) return false;
    beaten.push_back(other.number);
    return true;
  });
  front.push_back(std::move(one));
  return true;
}

// Returns whether the trial would move `front`, if no trial of it beats the trial. A trial with the
// values of another one does not, nor does the first trial.
inline bool is_new_in(const std::vector<Candidate>& front, const Candidate& one) {
  return !front.empty() && std::ranges::find(front, one.values, &Candidate::values) == front.end();
}

}  // namespace hyperflock::storage
