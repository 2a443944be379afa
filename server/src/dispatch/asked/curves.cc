// Tells a study's owner the points of trials, which attempt is each trial's lead, and how trials
// end (R48, R49).
#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

namespace {

// Calls `each` with parts of the points, from index `from` on. Each part fits one item of a batch.
template <typename Each>
void in_pieces(const std::vector<protocol::Point>& points, std::size_t from, Each each) {
  constexpr std::size_t kPointsOfOne = 1'000;
  for (; from < points.size(); from += kPointsOfOne) {
    const std::size_t end = std::min(points.size(), from + kPointsOfOne);
    each(std::vector<protocol::Point>(points.begin() + static_cast<std::ptrdiff_t>(from),
                                      points.begin() + static_cast<std::ptrdiff_t>(end)));
  }
}

std::optional<std::int64_t> first_step(const Attempt& attempt) {
  return attempt.from ? attempt.from->step : std::nullopt;
}

}  // namespace

void State::keep_points(AttemptId id, const std::vector<protocol::Point>& points) {
  const auto found = attempts.find(id);
  if (found == attempts.end() || points.empty()) return;
  Attempt& attempt = found->second;
  Study& study = studies.at(attempt.trial.study);
  if (!study.asked) return;
  attempt.points.insert(attempt.points.end(), points.begin(), points.end());
  queue_points(study, id, attempt);
  if (attempt.points.size() <= kMaxKeptPoints) return;
  const std::size_t over = attempt.points.size() - kMaxKeptPoints / 2;
  attempt.points.erase(attempt.points.begin(),
                       attempt.points.begin() + static_cast<std::ptrdiff_t>(over));
  attempt.told -= std::min(attempt.told, over);
}

void State::queue_points(Study& study, AttemptId id, Attempt& attempt) {
  if (!study.asked->owner || find_trial(attempt.trial)->asked->lead != id) return;
  in_pieces(attempt.points, attempt.told, [&](std::vector<protocol::Point> piece) {
    add_item(study, protocol::PointsCall{attempt.trial.number, id, std::move(piece)});
  });
  attempt.told = attempt.points.size();
}

void State::follow_lead(TrialKey key) {
  Study& study = studies.at(key.study);
  Trial& trial = *find_trial(key);
  if (trial.open.empty()) return;
  const AttemptId id = trial.open.front();
  Attempt& attempt = attempts.at(id);
  AskedPart& part = *trial.asked;
  if (!attempt.committed || part.lead == id) return;
  part.superseded |= part.lead.has_value() || part.ran;
  part.lead = id;
  attempt.told = 0;
  if (part.superseded) add_item(study, protocol::ResumedCall{key.number, id, first_step(attempt)});
  queue_points(study, id, attempt);
}

void State::queue_running_trials(Study& study) {
  std::vector<std::int64_t> numbers;
  for (const auto& [number, trial] : study.trials) {
    if (trial.asked->lead && !trial.open.empty()) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const std::int64_t number : numbers) {
    Trial& trial = study.trials.at(number);
    const AttemptId id = trial.open.front();
    if (trial.asked->lead != id) continue;  // the start of this attempt is not durable yet
    Attempt& attempt = attempts.at(id);
    if (trial.asked->superseded) {
      add_item(study, protocol::ResumedCall{TrialNumber{number}, id, first_step(attempt)});
    }
    attempt.told = 0;
    queue_points(study, id, attempt);
  }
  for (auto& [id, question] : study.asked->questions) {
    if (!question.value) ask_again(study, id);
  }
}

void State::queue_result(const PendingResult& what, const storage::Outcome& outcome) {
  const std::optional<TrialKey> key = outcome.trial ? outcome.trial : what.trial;
  Study* study = key ? find_study(key->study) : nullptr;
  if (study == nullptr || !study->asked) return;
  const protocol::TrialResult& result = *what.result;
  protocol::FinishedCall finished{.trial = key->number,
                                  .attempt = what.attempt,
                                  .state = result.outcome,
                                  .values = result.values,
                                  .params = "{}",
                                  .attrs = result.attrs,
                                  .seq = outcome.seq,
                                  .device = what.device,
                                  .points = result.points};
  if (const Trial* trial = find_trial(*key)) finished.params = trial->asked->params;
  if (what.trial && !what.led) {  // its curve replaces that of the attempt that led
    add_item(*study, protocol::ResumedCall{key->number, what.attempt, what.from_step});
    in_pieces(what.points_before, 0, [&](std::vector<protocol::Point> piece) {
      add_item(*study, protocol::PointsCall{key->number, what.attempt, std::move(piece)});
    });
  }
  add_item(*study, std::move(finished));
}

void State::queue_failure(const PendingFail& what, std::int64_t seq) {
  Study* study = find_study(what.trial.study);
  const Trial* trial = find_trial(what.trial);
  if (study == nullptr || !study->asked || trial == nullptr) return;
  add_item(*study, protocol::FinishedCall{.trial = what.trial.number,
                                          .attempt = what.ending.attempt,
                                          .state = protocol::Outcome::failed,
                                          .values = {},
                                          .params = trial->asked->params,
                                          .attrs = what.ending.attrs,
                                          .failure = what.failure,
                                          .seq = seq,
                                          .device = what.ending.device,
                                          .points = what.ending.points});
}

}  // namespace hyperflock::dispatch
