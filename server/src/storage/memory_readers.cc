// See memory_readers.h.
#include "storage/memory_readers.h"

#include <algorithm>

#include "storage/lineage.h"
#include "storage/study_ledger.h"

namespace hyperflock::storage::memory {
namespace {

StudyRow with_best(const State& state, StudyRow study) {
  if (study.spec.kind == protocol::StudyKind::asked && study.best_trial)
    study.best_params = state.trials.at({study.id, *study.best_trial}).row.params;
  return study;
}

TrialDetail detail(const State& state, const Trial& trial) {
  TrialDetail all;
  all.trial = trial.row;
  if (trial.attempts.empty()) return all;  // asked, and never leased
  all.attempt = state.attempts.at(trial.row.accepted_attempt.value_or(trial.attempts.back())).row;
  if (trial.row.accepted_attempt) all.trial.values = all.attempt->values;
  return all;
}

std::vector<AttemptRow> attempts_of(const State& state, const Trial& trial, std::size_t from = 0) {
  std::vector<AttemptRow> rows;
  rows.reserve(trial.attempts.size() - from);
  for (std::size_t i = from; i < trial.attempts.size(); ++i)
    rows.push_back(state.attempts.at(trial.attempts[i]).row);
  return rows;
}

RunningStudy running_study(const State& state, const StudyRow& study) {
  RunningStudy running;
  running.study = study;
  for (auto trial = state.trials.lower_bound({study.id, TrialNumber{0}});
       trial != state.trials.end() && trial->first.study == study.id; ++trial) {
    running.next_number = to_int(trial->first.number) + 1;
    if (trial->second.row.state != TrialState::running) continue;
    const auto& kept = trial->second.checkpoints;
    running.unfinished.push_back(
        {trial->first, attempts_of(state, trial->second, trial->second.forgiven),
         kept.empty() ? std::nullopt : std::optional(kept.back().checkpoint)});
    if (study.spec.kind != protocol::StudyKind::asked) continue;
    running.unfinished.back().params = trial->second.row.params;
    running.unfinished.back().suggested = trial->second.row.suggested;
    running.unfinished.back().attrs = trial->second.attrs;
  }
  return running;
}

}  // namespace

Snapshot load(const State& state) {
  Snapshot snapshot;
  snapshot.next_study_id = state.last_study + 1;
  snapshot.next_attempt_id = state.last_attempt + 1;
  for (const auto& [id, study] : state.studies) {
    snapshot.next_study_id = std::max(snapshot.next_study_id, to_int(id) + 1);
    if (ledger::is_running(study)) snapshot.studies.push_back(running_study(state, study));
  }
  if (!state.attempts.empty()) {
    snapshot.next_attempt_id =
        std::max(snapshot.next_attempt_id, to_int(state.attempts.rbegin()->first) + 1);
  }
  return snapshot;
}

Identities identities(const State& state) {
  Identities all;
  all.principals = state.identity.principals;
  all.tokens = state.identity.tokens;
  all.projects = state.identity.projects;
  all.enrolments = state.identity.enrolments;
  for (const auto& [id, device] : state.identity.devices) all.devices.push_back(device);
  return all;
}

std::vector<StudyRow> studies(const State& state) {
  std::vector<StudyRow> rows;
  rows.reserve(state.studies.size());
  for (const auto& [id, study] : state.studies) rows.push_back(with_best(state, study));
  std::reverse(rows.begin(), rows.end());
  return rows;
}

std::optional<StudyRow> study(const State& state, StudyId id) {
  const StudyRow* row = find(state.studies, id);
  return row == nullptr ? std::nullopt : std::optional(with_best(state, *row));
}

std::vector<TrialDetail> finished_trials(const State& state, StudyId id, std::int64_t after,
                                         std::int64_t limit) {
  std::vector<TrialDetail> page;
  for (auto entry = state.finished.upper_bound({id, after});
       entry != state.finished.end() && entry->first.first == id &&
       static_cast<std::int64_t>(page.size()) < limit;
       ++entry) {
    page.push_back(detail(state, state.trials.at(entry->second)));
  }
  return page;
}

std::vector<TrialDetail> unfinished_trials(const State& state, StudyId id) {
  std::vector<TrialDetail> page;
  for (auto entry = state.trials.lower_bound({id, TrialNumber{0}});
       entry != state.trials.end() && entry->first.study == id; ++entry) {
    if (entry->second.row.state == TrialState::running)
      page.push_back(detail(state, entry->second));
  }
  return page;
}

std::optional<TrialDetail> trial(const State& state, TrialKey key) {
  const Trial* found = find(state.trials, key);
  if (found == nullptr) return std::nullopt;
  TrialDetail all = detail(state, *found);
  all.attempts_list = attempts_of(state, *found);
  all.trial.asked_attrs = found->attrs;
  if (all.attempt) all.points = curve(state, *all.attempt);
  return all;
}

std::vector<protocol::Point> curve(const State& state, const AttemptRow& row) {
  Lineage lineage(row);
  while (const auto id = lineage.wanted()) {
    const Attempt* attempt = find(state.attempts, *id);
    if (attempt == nullptr) break;  // its study was deleted since the row was read
    for (const auto& [step, value] : attempt->points) lineage.add({step, value});
    lineage.go_on(attempt->row.from);
  }
  return lineage.points();
}

std::optional<AttemptRow> attempt(const State& state, AttemptId id) {
  const Attempt* found = find(state.attempts, id);
  return found == nullptr ? std::nullopt : std::optional(found->row);
}

std::set<std::string> kept_blobs(const State& state) {
  std::set<std::string> blobs = state.artifacts.blobs();
  for (const auto& [key, trial] : state.trials) {
    for (const Saved& one : trial.checkpoints) blobs.insert(one.checkpoint.blob.sha256);
  }
  return blobs;
}

std::set<std::string> owned_blobs(const State& state) {
  std::set<std::string> blobs;  // those of studies are among them
  for (const auto& [blob, bytes] : state.identity.owner_blobs) blobs.insert(blob.second);
  return blobs;
}

Usage usage(const State& state, const std::string& owner) {
  Usage used{0, 0, state.identity.bytes_of(owner)};
  for (const auto& [id, study] : state.studies) {
    if (study.owner != owner) continue;
    used.bytes += study.artifact_bytes;
    if (!ledger::is_running(study)) continue;
    ++used.studies;
    used.trials = std::min(used.trials + study.total, kManyTrials);
  }
  return used;
}

}  // namespace hyperflock::storage::memory
