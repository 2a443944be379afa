// Devices that fail one trial after another in the reference model (R72); see reference.h. The
// limits are those of the dispatcher.
#include <algorithm>

#include "dispatch/breaker.h"
#include "dispatch/model/reference.h"

namespace hyperflock::dispatch {

using protocol::Cause;
using storage::AttemptState;

bool Reference::has_long_row(Id study, const std::string& device) const {
  const Study& one = studies_.at(study);
  const auto row = one.rows.find(device);
  const auto same = one.same.find(device);
  const auto everywhere = barred_.find({one.options.project, device});
  return (row != one.rows.end() && row->second.bars > 0) ||
         (same != one.same.end() && same->second.bars > 0) ||
         (everywhere != barred_.end() && everywhere->second.bars > 0);
}

bool Reference::is_barred(Id study, const std::string& device, Turn turn) const {
  if (!has_long_row(study, device)) return false;
  if (turn == Turn::waits) return has_other_device(study, device);
  const Study& one = studies_.at(study);
  const auto row = one.rows.find(device);
  const auto everywhere = barred_.find({one.options.project, device});
  const bool here = row != one.rows.end() && now_ < row->second.until;
  const bool there = everywhere != barred_.end() && now_ < everywhere->second.until;
  const auto same = one.same.find(device);
  const bool repeats = same != one.same.end() && now_ < same->second.until;
  return (here || there || repeats) && has_other_device(study, device);
}

bool Reference::has_other_device(Id study, const std::string& device) const {
  return std::ranges::any_of(sessions_, [&](const auto& one) {
    return one.first != device && one.second.project == studies_.at(study).options.project &&
           may_run(one.first, study) && !has_long_row(study, one.first);
  });
}

void Reference::lift_odd_devices(const std::string& project) {
  for (auto& [id, study] : studies_) {
    if (study.options.project != project) continue;
    for (auto& [number, trial] : study.trials) {
      if (trial.odd_device.empty() || has_other_device(id, trial.odd_device)) continue;
      trial.odd_device.clear();
    }
  }
}

std::set<std::string> Reference::doubted(const Attempt& attempt) const {
  std::set<std::string> devices;
  for (const auto& [id, other] : attempts_) {
    const bool is_its = other.study == attempt.study && other.trial == attempt.trial;
    if (is_its && other.counted && !other.rejected && other.failure_code == storage::kNoPoints)
      devices.insert(other.device);
  }
  return devices;
}

bool Reference::is_doubtful(const Attempt& attempt) const {
  const storage::ReportedPoints& points = studies_.at(attempt.study).points;
  return attempt.reported == false && !attempt.from && !points.are_optional &&
         points.results >= settings_.results_with_points &&
         points.devices.size() >= settings_.devices_with_points && doubted(attempt).empty() &&
         has_other_device(attempt.study, attempt.device);
}

void Reference::learn_points(Study& study, const Attempt& attempt) const {
  if (attempt.reported == true) study.points.add(attempt.device);
  if (attempt.reported != false || attempt.from) return;
  for (const std::string& device : doubted(attempt))
    study.points.are_optional |= device != attempt.device;
}

storage::ReportedPoints Reference::stored_points(const Study& study) const {
  storage::ReportedPoints points;
  for (const auto& [number, trial] : study.trials) {
    if (!trial.accepted) continue;
    const Attempt& attempt = attempts_.at(*trial.accepted);
    if (attempt.code != study.code || attempt.from) continue;
    if (!attempt.steps.empty()) {
      points.add(attempt.device);
      continue;
    }
    for (const std::string& device : doubted(attempt))
      points.are_optional |= device != attempt.device;
  }
  points.are_optional &= points.results > 0;
  return points;
}

void Reference::forget_rows(Study& study) {
  study.rows.clear();
  study.results = study.failures = 0;
  study.probes.clear();
  study.succeeded_on.clear();
  study.same.clear();
  study.values = study.repeated = 0;
  study.value_probes.clear();
  study.usual.clear();
}

void Reference::count_in_row(const Attempt& attempt, Cause cause) {
  Study& study = studies_.at(attempt.study);
  ++study.results;
  ++study.failures;
  const auto probe = study.probes.find(attempt.trial);
  if (probe != study.probes.end() && probe->second != attempt.device) return;
  const std::pair key(study.options.project, attempt.device);
  const auto bar = [&](Id nth) {
    return now_ + bar_ms(settings_.bar_ms, settings_.longest_bar_ms, nth);
  };
  if (const auto found = barred_.find(key); found != barred_.end() && found->second.bars > 0)
    found->second.until = bar(++found->second.bars);
  Row& row = study.rows[attempt.device];
  ++row.length;
  if (row.bars == 0 &&
      row.length < length_that_bars(study.failures - row.length, study.results - row.length))
    return;
  row.until = bar(++row.bars);
  if (row.bars > 1 || cause == Cause::out_of_memory) return;
  Barred& everywhere = barred_[key];
  everywhere.studies.insert(attempt.study);
  if (everywhere.bars == 0 && everywhere.studies.size() >= kBarredStudies)
    everywhere.until = bar(++everywhere.bars);
}

void Reference::end_rows(const Attempt& attempt) {
  Study& study = studies_.at(attempt.study);
  ++study.results;
  study.rows.erase(attempt.device);
  barred_.erase({study.options.project, attempt.device});
}

void Reference::judge_failure(const Attempt& attempt) {
  Study& study = studies_.at(attempt.study);
  const auto probe = study.probes.find(attempt.trial);
  if (probe != study.probes.end() && probe->second != attempt.device) {
    const std::string first = probe->second;
    study.rows.erase(first);
    std::erase_if(study.probes, [&](const auto& one) { return one.second == first; });
    return;
  }
  const auto row = study.rows.find(attempt.device);
  if (row == study.rows.end() || study.asked()) return;
  row->second.trials.push_back(attempt.trial);
  if (row->second.bars == 0) return;
  row->second.judged = false;
  for (const std::string& device : study.succeeded_on)
    row->second.judged |=
        device != attempt.device && has_other_device(attempt.study, attempt.device);
  if (row->second.judged) probe_row(attempt.study, attempt.device);
}

void Reference::judge_success(const Attempt& attempt) {
  Study& study = studies_.at(attempt.study);
  study.succeeded_on.insert(attempt.device);
  if (const auto probe = study.probes.find(attempt.trial); probe != study.probes.end()) {
    const std::string first = probe->second;
    study.probes.erase(probe);
    const auto row = study.rows.find(first);
    if (row != study.rows.end()) {
      row->second.own |= first != attempt.device;
      if (row->second.own) probe_row(attempt.study, first);
    }
  }
  for (auto& [device, row] : study.rows) {
    const bool others = std::ranges::any_of(
        study.succeeded_on, [&one = device](const std::string& other) { return other != one; });
    if (row.judged || !others || !has_other_device(attempt.study, device)) continue;
    row.judged = true;
    probe_row(attempt.study, device);
  }
}

void Reference::probe_row(Id study_id, const std::string& device) {
  Study& study = studies_.at(study_id);
  Row& row = study.rows.at(device);
  while (!row.trials.empty() && (row.own || row.probes < static_cast<Id>(kProbes))) {
    const Id trial = row.trials.back();
    row.trials.pop_back();
    if (!row.own) {
      ++row.probes;
      study.probes[trial] = device;
    }
    probe(study_id, trial, device);
  }
}

void Reference::probe(Id study, Id trial, const std::string& device) {
  Probe probe{.study = study, .trial = trial, .meant = {}};
  for (auto& [id, attempt] : attempts_) {
    const bool is_its = attempt.study == study && attempt.trial == trial;
    if (is_its && attempt.device == device && !attempt.rejected) probe.meant.insert(id);
  }
  probing_.push_back(std::move(probe));
}

// The rejections are stored in a batch of their own, after that of the result which caused them.
void Reference::reject_probes() {
  if (probing_.empty()) return;
  const std::vector<Started> started = pump_all();
  const std::vector<Probe> probes = std::exchange(probing_, {});
  for (const Probe& probe : probes) {
    Study& study = studies_.at(probe.study);
    const auto changed = reject_trial(probe.study, probe.trial, probe.meant, false);
    if (!changed) continue;
    changed_.insert(probe.study);
    study.succeeded = std::ranges::any_of(
        study.trials, [](const auto& one) { return one.second.accepted.has_value(); });
    run_again(probe.study, *changed);
    if (changed->runs_again && changed->failed_by) finish_trial(probe.study, probe.trial);
  }
  deliver(started);
  for (const Probe& probe : probes) end_if_finished(probe.study);
}

}  // namespace hyperflock::dispatch
