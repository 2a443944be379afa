// Implements ModelStore; see scenario.h.
#include <algorithm>
#include <utility>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {

using storage::Applied;
using storage::AttemptState;
using storage::Outcome;

namespace {

Outcome outcome(Applied applied, std::optional<TrialKey> trial = {},
                std::optional<protocol::Verdict> verdict = {}) {
  return {.applied = applied, .trial = trial, .study = {}, .verdict = verdict, .seq = 0};
}

}  // namespace

bool ModelStore::StudyState::succeeded() const {
  return std::any_of(trials.begin(), trials.end(),
                     [](const auto& one) { return one.second.accepted.has_value(); });
}

Outcome ModelStore::apply(const storage::Transition& transition) {
  return std::visit([this](const auto& one) { return apply_one(one); }, transition);
}

Outcome ModelStore::apply_one(const storage::CreateStudy& t) {
  for (const auto& [id, study] : studies) {
    if (study.created.owner != t.owner || study.created.spec.submit_key != t.spec.submit_key)
      continue;
    Outcome out = outcome(Applied::repeated);
    out.study = id;
    return out;
  }
  studies[t.id].created = t;
  studies[t.id].priority = t.spec.priority;
  if (t.awaits_approval) studies[t.id].approval = storage::Approval::awaited;
  Outcome out = outcome(Applied::applied);
  out.study = t.id;
  return out;
}

Outcome ModelStore::apply_one(const storage::StartAttempt& t) {
  if (attempts.contains(t.attempt)) return outcome(Applied::conflict, t.trial);
  const auto study = studies.find(t.trial.study);
  if (study == studies.end()) return outcome(Applied::conflict, t.trial);
  if (study->second.state != storage::StudyState::running) {
    return outcome(Applied::superseded, t.trial);
  }
  TrialState& trial = study->second.trials[to_int(t.trial.number)];
  if (trial.state != storage::TrialState::running) return outcome(Applied::superseded, t.trial);
  storage::AttemptRow& row = attempts[t.attempt];
  row.id = t.attempt;
  row.trial = t.trial;
  row.kind = t.kind;
  row.code = study->second.code;
  if (t.from && attempts.at(t.from->attempt).code >= study->second.resumable_code &&
      !attempts.at(t.from->attempt).rejection)
    row.from = t.from;
  row.device = t.device;
  row.device_class = t.device_class;
  row.adapter = t.adapter;
  return outcome(Applied::applied, t.trial);
}

Outcome ModelStore::apply_one(const storage::StoreResult& t) {
  const auto found = attempts.find(t.result.attempt);
  if (found == attempts.end() || found->second.device != t.device)
    return outcome(Applied::conflict);
  storage::AttemptRow& row = found->second;
  StudyState& study = studies.at(row.trial.study);
  TrialState& trial = study.trials[to_int(row.trial.number)];
  if (row.result_seq != 0) {
    return outcome(Applied::repeated, row.trial, verdicts.at(row.id));
  }
  protocol::TrialResult result = t.result;
  if (auto failure = protocol::out_of_range(study.created.spec, result)) {
    result.failure = std::move(failure);
    result.outcome = protocol::Outcome::failed;
  }
  const Outcome judged = judge(row, study, trial, result);
  verdicts[row.id] = *judged.verdict;
  return judged;
}

Outcome ModelStore::judge(storage::AttemptRow& row, const StudyState& study, TrialState& trial,
                          const protocol::TrialResult& result) {
  row.result_seq = result.seq;
  row.values = result.values;
  if (!result.failure || !row.failure) row.failure = result.failure;
  if (result.outcome == protocol::Outcome::failed) {
    if (row.state == AttemptState::live) {
      row.state = AttemptState::failed;
      if (row.from && storage::blames_checkpoint(*result.failure)) trial.checkpoint.reset();
    }
    return outcome(Applied::applied, row.trial, protocol::Verdict::recorded);
  }
  // A result of a failed trial may still be accepted (R12), unless its owner has asked for another.
  const bool replaced = trial.failure && trial.failure->code == storage::kResultRejected;
  if (trial.accepted || row.rejection || replaced || study.state != storage::StudyState::running) {
    row.state = AttemptState::evidence;
    return outcome(Applied::superseded, row.trial, protocol::Verdict::evidence);
  }
  row.state = AttemptState::accepted;
  trial.state = result.outcome == protocol::Outcome::complete ? storage::TrialState::complete
                                                              : storage::TrialState::pruned;
  trial.accepted = row.id;
  trial.checkpoint.reset();
  ++trial.acceptances;
  return outcome(Applied::applied, row.trial, protocol::Verdict::accepted);
}

Outcome ModelStore::apply_one(const storage::EndAttempt& t) {
  const auto found = attempts.find(t.attempt);
  if (found == attempts.end()) return outcome(Applied::conflict);
  if (found->second.state != AttemptState::live)
    return outcome(Applied::repeated, found->second.trial);
  found->second.state = t.state;
  found->second.failure = t.failure;
  found->second.metrics = t.metrics;
  return outcome(Applied::applied, found->second.trial);
}

Outcome ModelStore::apply_one(const storage::AppendPoints& t) {
  const auto found = attempts.find(t.attempt);
  if (found == attempts.end() || found->second.device != t.device)
    return outcome(Applied::conflict);
  bool added = false;
  for (const protocol::Point& point : t.points)
    added |= points[t.attempt].emplace(point.step, point.value).second;
  storage::Outcome appended =
      outcome(added ? Applied::applied : Applied::repeated, found->second.trial);
  if (!t.series) return appended;
  // Tests give this name to a series that is meant to exceed a limit.
  if (t.series->columns.at(0).name == kSeriesAboveLimit) {
    appended.applied = Applied::superseded;
    appended.refusal = storage::Refusal::series_count;
  } else if (logged[t.attempt].insert(t.seq).second) {
    appended.applied = Applied::applied;
  }
  return appended;
}

Outcome ModelStore::apply_one(const storage::StoreCheckpoint& t) {
  const auto found = attempts.find(t.checkpoint.attempt);
  if (found == attempts.end() || found->second.device != t.device)
    return outcome(Applied::conflict);
  const TrialKey key = found->second.trial;
  TrialState& trial = studies.at(key.study).trials[to_int(key.number)];
  if (found->second.state != AttemptState::live || trial.state != storage::TrialState::running ||
      found->second.rejection)
    return outcome(Applied::superseded, key);
  if (found->second.code < studies.at(key.study).resumable_code)
    return outcome(Applied::repeated, key);
  const bool same = trial.checkpoint && trial.checkpoint->attempt == t.checkpoint.attempt &&
                    trial.checkpoint->blob == t.checkpoint.blob;
  if (!same) trial.earlier_checkpoint = trial.checkpoint;
  trial.checkpoint = t.checkpoint;
  return outcome(same ? Applied::repeated : Applied::applied, key);
}

Outcome ModelStore::apply_one(const storage::FailTrial& t) {
  if (!studies.contains(t.trial.study)) return outcome(Applied::conflict, t.trial);
  TrialState& trial = studies.at(t.trial.study).trials[to_int(t.trial.number)];
  if (trial.state != storage::TrialState::running) return outcome(Applied::superseded, t.trial);
  trial.state = storage::TrialState::failed;
  trial.failure = t.failure;
  StudyState& study = studies.at(t.trial.study);
  study.failed.push_back(to_int(t.trial.number));
  Outcome out = outcome(Applied::applied, t.trial);
  out.paused = t.pauses && !study.paused && !study.succeeded();
  if (out.paused) {
    study.paused = true;
    study.stopped_by = to_int(t.trial.number);
  }
  return out;
}

Outcome ModelStore::apply_one(const storage::EndStudy& t) {
  const auto found = studies.find(t.study);
  if (found == studies.end()) return outcome(Applied::conflict);
  if (found->second.state != storage::StudyState::running) return outcome(Applied::repeated);
  found->second.state = t.state;
  found->second.paused = false;
  found->second.stopped_by.reset();
  if (found->second.approval == storage::Approval::awaited)
    found->second.approval = storage::Approval::given;
  for (auto& [number, trial] : found->second.trials) {
    trial.checkpoint.reset();
    if (trial.state == storage::TrialState::running) trial.state = storage::TrialState::cancelled;
  }
  return outcome(Applied::applied);
}

Outcome ModelStore::apply_one(const storage::DeleteStudy& t) {
  const auto found = studies.find(t.study);
  if (found == studies.end()) return outcome(Applied::conflict);
  if (found->second.state == storage::StudyState::running) return outcome(Applied::superseded);
  last_study = std::max(last_study, to_int(studies.rbegin()->first));
  if (!attempts.empty()) last_attempt = std::max(last_attempt, to_int(attempts.rbegin()->first));
  std::erase_if(attempts, [&](const auto& one) { return one.second.trial.study == t.study; });
  studies.erase(found);
  Outcome out = outcome(Applied::applied);
  out.study = t.study;
  return out;
}

Outcome ModelStore::apply_one(const storage::PauseStudy& t) {
  const auto found = studies.find(t.study);
  if (found == studies.end()) return outcome(Applied::conflict);
  if (found->second.state != storage::StudyState::running) return outcome(Applied::superseded);
  if (std::exchange(found->second.paused, t.paused) == t.paused) return outcome(Applied::repeated);
  if (!t.paused) {
    found->second.failed.clear();
    found->second.stopped_by.reset();
  }
  return outcome(Applied::applied);
}

Outcome ModelStore::apply_one(const storage::SetPriority& t) {
  const auto found = studies.find(t.study);
  if (found == studies.end()) return outcome(Applied::conflict);
  const bool changes = std::exchange(found->second.priority, t.priority) != t.priority;
  return outcome(changes ? Applied::applied : Applied::repeated);
}

Outcome ModelStore::apply_one(const storage::JudgeStudy& t) {
  const auto found = studies.find(t.study);
  if (found == studies.end()) return outcome(Applied::conflict);
  if (found->second.state != storage::StudyState::running) return outcome(Applied::superseded);
  if (found->second.approval != storage::Approval::awaited) return outcome(Applied::repeated);
  found->second.approval = storage::Approval::given;
  if (t.approved) return outcome(Applied::applied);
  found->second.approval = storage::Approval::refused;
  return apply_one(storage::EndStudy{t.study, storage::StudyState::cancelled});
}

Outcome ModelStore::apply_one(const storage::UpdatePrincipal& t) {
  if (!people.contains(t.id)) return outcome(Applied::conflict);
  if (t.state == storage::PrincipalState::active) rules.owners.erase(people.at(t.id));
  if (t.state && *t.state != storage::PrincipalState::active)
    rules.owners.insert_or_assign(people.at(t.id), t.reason);
  return outcome(Applied::applied);
}

Outcome ModelStore::apply_one(const storage::FreezeProject& t) {
  const bool changes =
      t.frozen ? rules.projects.emplace(t.name, t.reason).second : rules.projects.erase(t.name) > 0;
  return outcome(changes ? Applied::applied : Applied::repeated);
}

Outcome ModelStore::apply_one(const storage::BarBlob& t) {
  const bool changes =
      t.barred ? rules.blobs.emplace(t.sha256, t.reason).second : rules.blobs.erase(t.sha256) > 0;
  return outcome(changes ? Applied::applied : Applied::repeated);
}

Outcome ModelStore::apply_one(const storage::SetCeiling& t) {
  if (t.scope == storage::CeilingScope::server) {
    const bool changes = std::exchange(rules.server, t.ceiling) != t.ceiling;
    return outcome(changes ? Applied::applied : Applied::repeated);
  }
  auto& all = t.scope == storage::CeilingScope::project ? rules.of_projects : rules.of_researchers;
  const auto found = all.find(t.name);
  if ((found == all.end() ? storage::Ceiling{} : found->second) == t.ceiling)
    return outcome(Applied::repeated);
  all.erase(t.name);
  if (!t.ceiling.empty()) all.emplace(t.name, t.ceiling);
  return outcome(Applied::applied);
}

Outcome ModelStore::apply_one(const storage::SetShare& t) {
  auto& all = t.scope == storage::CeilingScope::project ? rules.shares_of_projects
                                                        : rules.shares_of_researchers;
  const auto found = all.find(t.name);
  if ((found == all.end() ? storage::Share{} : found->second) == t.share)
    return outcome(Applied::repeated);
  all.erase(t.name);
  if (!t.share.empty()) all.emplace(t.name, t.share);
  return outcome(Applied::applied);
}

Outcome ModelStore::apply_one(const storage::ExtendStudy& t) {
  const auto found = studies.find(t.study);
  if (found == studies.end()) return outcome(Applied::conflict);
  StudyState& study = found->second;
  Outcome out = outcome(Applied::superseded);
  if (study.state == storage::StudyState::cancelled) return out;
  const auto after = protocol::extended(study.created.spec, t.more);
  if (!after) {
    out.refusal = storage::Refusal::space_changed;
    return out;
  }
  if (*after == study.created.spec) return outcome(Applied::repeated);
  out.applied = Applied::applied;
  out.id = study.created.total;
  out.priority = study.priority;
  out.spec = std::make_shared<const protocol::StudySpec>(*after);
  if (t.awaits_approval) study.approval = storage::Approval::awaited;
  study.created.spec = *after;
  study.created.total = protocol::trial_count(*after);
  // Failures from before a study ended do not count when it runs again (R56).
  if (study.state == storage::StudyState::finished) study.failed.clear();
  study.state = storage::StudyState::running;
  return out;
}

Outcome ModelStore::apply_one(const storage::ReissueTrials& t) {
  const auto found = studies.find(t.study);
  if (found == studies.end()) return outcome(Applied::conflict);
  if (found->second.state == storage::StudyState::cancelled) return outcome(Applied::superseded);
  Outcome out = outcome(Applied::repeated);
  auto rejected = std::make_shared<storage::Rejected>();
  for (auto& [number, trial] : found->second.trials) {
    if (trial.state != storage::TrialState::failed) continue;
    trial.state = storage::TrialState::running;
    trial.failure.reset();
    trial.checkpoint.reset();
    for (const auto& [id, row] : attempts) {
      if (row.trial == TrialKey{t.study, TrialNumber{number}}) trial.forgiven = id;
    }
    out.trials.push_back(TrialNumber{number});
    storage::RunningTrial running = running_trial({t.study, TrialNumber{number}}, trial);
    if (!running.rejected_devices.empty()) rejected->trials.push_back({std::move(running)});
  }
  if (out.trials.empty()) return out;
  if (!rejected->trials.empty()) out.rejected = std::move(rejected);
  found->second.failed.clear();
  found->second.stopped_by.reset();
  found->second.state = storage::StudyState::running;
  out.applied = Applied::applied;
  out.priority = found->second.priority;
  StudyState& study = found->second;
  if (t.awaits_approval) study.approval = storage::Approval::awaited;
  if (!t.code || protocol::runs_code(study.created.spec, *t.code)) return out;
  study.earlier_blobs.insert(study.created.spec.bundle.sha256);
  study.created.spec = protocol::with_code(study.created.spec, *t.code, t.runtime_index);
  study.earlier_blobs.erase(study.created.spec.bundle.sha256);
  out.spec = std::make_shared<const protocol::StudySpec>(study.created.spec);
  ++study.code;
  if (t.code->checkpoints) return out;
  study.resumable_code = study.code;
  for (auto& [number, trial] : study.trials) trial.checkpoint.reset();
  return out;
}

Outcome ModelStore::apply_one(const storage::ClaimStudy& t) {
  const auto found = studies.find(t.study);
  const bool asked =
      found != studies.end() && found->second.created.spec.kind == protocol::StudyKind::asked;
  if (!asked) return outcome(Applied::conflict);
  if (found->second.state == storage::StudyState::cancelled) return outcome(Applied::superseded);
  if (found->second.state == storage::StudyState::finished) found->second.failed.clear();
  found->second.state = storage::StudyState::running;
  Outcome out = outcome(Applied::applied);
  out.id = ++found->second.generation;
  out.priority = found->second.priority;
  return out;
}

Outcome ModelStore::apply_one(const storage::AskTrials& t) {
  const auto found = studies.find(t.study);
  if (found == studies.end()) return outcome(Applied::conflict);
  StudyState& study = found->second;
  if (study.state != storage::StudyState::running || study.generation != t.generation)
    return outcome(Applied::superseded);
  Outcome out = outcome(Applied::applied);
  for (const storage::AskedRow& row : t.trials) {
    const auto [trial, is_new] = study.trials.try_emplace(to_int(row.number));
    if (!is_new) continue;
    trial->second.params = row.params;
    trial->second.attrs = row.attrs;
    ++study.created.total;
    out.trials.push_back(row.number);
  }
  return out;
}

Outcome ModelStore::apply_one(const storage::StoreSuggestion& t) {
  if (!studies.contains(t.trial.study)) return outcome(Applied::conflict, t.trial);
  StudyState& study = studies.at(t.trial.study);
  const auto found = study.trials.find(to_int(t.trial.number));
  if (found == study.trials.end()) return outcome(Applied::conflict, t.trial);
  TrialState& trial = found->second;
  if (trial.state != storage::TrialState::running || study.generation != t.generation)
    return outcome(Applied::superseded, t.trial);
  for (const storage::Suggestion& one : trial.log) {
    if (one.name == t.suggestion.name) return outcome(Applied::repeated, t.trial);
  }
  trial.log.push_back(t.suggestion);
  trial.params = t.params;
  return outcome(Applied::applied, t.trial);
}

Outcome ModelStore::apply_one(const storage::NoteDevices& t) {
  const auto found = studies.find(t.study);
  if (found == studies.end()) return outcome(Applied::conflict);
  if (found->second.state != storage::StudyState::running) return outcome(Applied::superseded);
  const bool known = !found->second.created.webhook || found->second.deviceless == !t.present;
  if (known) return outcome(Applied::repeated);
  found->second.deviceless = !t.present;
  return outcome(Applied::applied);
}

storage::ReportedPoints ModelStore::reported_points(const StudyState& study) const {
  storage::ReportedPoints found;
  for (const auto& [number, trial] : study.trials) {
    if (trial.state != storage::TrialState::complete) continue;
    const storage::AttemptRow& row = attempts.at(*trial.accepted);
    if (row.code != study.code || row.from) continue;
    if (points.contains(row.id)) {
      found.add(row.device);
      continue;
    }
    for (const auto& [id, other] : attempts) {
      if (other.trial != row.trial || id <= trial.forgiven || other.device == row.device) continue;
      found.are_optional |= storage::counts(other) && other.failure->code == storage::kNoPoints;
    }
  }
  found.are_optional &= found.results > 0;
  return found;
}

storage::Snapshot ModelStore::load() const {
  storage::Snapshot out;
  out.rules = rules;
  out.next_study_id = last_study + 1;
  out.next_attempt_id = last_attempt + 1;
  for (const auto& [id, study] : studies) {
    out.next_study_id = std::max(out.next_study_id, to_int(id) + 1);
    if (study.state != storage::StudyState::running) continue;
    storage::RunningStudy running;
    running.study.id = id;
    running.study.owner = study.created.owner;
    running.study.project = study.created.project;
    running.study.spec = study.created.spec;
    running.study.total = study.created.total;
    running.study.generation = study.generation;
    running.study.paused = study.paused;
    running.study.priority = study.priority;
    running.study.approval = study.approval;
    running.study.code = study.code;
    running.study.earlier_blobs.assign(study.earlier_blobs.begin(), study.earlier_blobs.end());
    if (study.created.webhook)
      running.study.webhook.emplace(*study.created.webhook, study.deviceless);
    running.points = reported_points(study);
    if (!study.succeeded()) {
      for (const std::int64_t number : study.failed)
        running.failures.push_back(*study.trials.at(number).failure);
    }
    for (const auto& [number, trial] : study.trials) {
      running.next_number = std::max(running.next_number, number + 1);
      running.study.complete += trial.state == storage::TrialState::complete;
      running.study.pruned += trial.state == storage::TrialState::pruned;
      running.study.failed += trial.state == storage::TrialState::failed;
      if (trial.state != storage::TrialState::running) continue;
      storage::RunningTrial unfinished = running_trial({id, TrialNumber{number}}, trial);
      unfinished.params = trial.params;
      unfinished.suggested = trial.log;
      unfinished.attrs = trial.attrs;
      running.unfinished.push_back(std::move(unfinished));
    }
    out.studies.push_back(std::move(running));
  }
  for (storage::RunningStudy& one : out.studies) {
    one.study.attempts = std::ranges::count_if(
        attempts, [&one](const auto& row) { return row.second.trial.study == one.study.id; });
  }
  for (const auto& [id, row] : attempts)
    out.next_attempt_id = std::max(out.next_attempt_id, to_int(id) + 1);
  return out;
}

}  // namespace hyperflock::dispatch
