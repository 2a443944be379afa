// Bars devices that fail one trial after another, and issues the trials again that failed only
// because of the device (R72).
#include <algorithm>
#include <utility>

#include "dispatch/breaker.h"
#include "dispatch/state.h"

namespace hyperflock::dispatch {

bool State::has_long_row(const Study& study, const std::string& device) const {
  const auto row = study.breaker.rows.find(device);
  if (row != study.breaker.rows.end() && row->second.bars > 0) return true;
  const auto values = study.repeats.rows.find(device);
  if (values != study.repeats.rows.end() && values->second.bars > 0) return true;
  const auto& barred = projects.at(study.project).barred;
  const auto everywhere = barred.find(device);
  return everywhere != barred.end() && everywhere->second.bars > 0;
}

bool State::is_barred(const Study& study, const std::string& device, Turn turn) const {
  if (!has_barred || !has_long_row(study, device)) return false;
  if (turn == Turn::waits) return has_other_device(study, device);
  Instant until{};
  if (const auto row = study.breaker.rows.find(device); row != study.breaker.rows.end())
    until = row->second.until;
  if (const auto row = study.repeats.rows.find(device); row != study.repeats.rows.end())
    until = std::max(until, row->second.until);
  const auto& barred = projects.at(study.project).barred;
  if (const auto everywhere = barred.find(device); everywhere != barred.end())
    until = std::max(until, everywhere->second.until);
  return now < until && has_other_device(study, device);
}

bool State::has_other_device(const Study& study, const std::string& device) const {
  return std::ranges::any_of(sessions, [&](const auto& one) {
    const Session& session = one.second;
    return session.device != device && session.project == study.project &&
           std::ranges::count(session.cannot_run, study.id) == 0 &&
           protocol::unmet(needs[study.needs], session.capabilities).empty() &&
           !has_long_row(study, session.device);
  });
}

void State::note_missing_device(const std::string& project) {
  const auto found = projects.find(project);
  if (found == projects.end()) return;
  found->second.lacks_device = !found->second.odd_trials.empty();
  if (found->second.lacks_device || found->second.bars) dirty_projects.insert(project);
}

void State::count_in_row(Study& study, TrialNumber trial, const std::string& device,
                         protocol::Cause cause) {
  Breaker& breaker = study.breaker;
  ++breaker.results;
  ++breaker.failures;
  const auto probe = breaker.probes.find(trial);
  if (probe != breaker.probes.end() && probe->second != device) return;
  bar_everywhere(study, device);
  auto found = breaker.rows.find(device);
  if (found == breaker.rows.end()) {
    if (!make_room(breaker.rows)) return;
    found = breaker.rows.try_emplace(device).first;
  }
  FailureRow& row = found->second;
  ++row.length;
  const std::int64_t enough =
      length_that_bars(breaker.failures - row.length, breaker.results - row.length);
  if (row.bars == 0 && row.length < enough) return;
  row.until = now + bar_ms(settings.bar_ms, settings.longest_bar_ms, ++row.bars);
  has_barred = projects[study.project].bars = true;
  note_missing_device(study.project);
  if (row.bars > 1 || cause == protocol::Cause::out_of_memory) return;
  auto& barred = projects[study.project].barred;
  if (!barred.contains(device) && !make_room(barred)) return;
  BarredDevice& everywhere = barred[device];
  if (everywhere.bars > 0) return;
  everywhere.studies.insert(study.id);
  if (everywhere.studies.size() < kBarredStudies) return;
  bar_everywhere(everywhere);
}

void State::bar_everywhere(Study& study, const std::string& device) {
  auto& barred = projects[study.project].barred;
  const auto everywhere = barred.find(device);
  if (everywhere == barred.end() || everywhere->second.bars == 0) return;
  bar_everywhere(everywhere->second);
}

void State::bar_everywhere(BarredDevice& device) {
  device.until = now + bar_ms(settings.bar_ms, settings.longest_bar_ms, ++device.bars);
}

void State::end_row(Study& study, const std::string& device) {
  Breaker& breaker = study.breaker;
  if (const auto row = breaker.rows.find(device); row != breaker.rows.end()) {
    if (row->second.bars > 0) dirty_projects.insert(study.project);
    breaker.rows.erase(row);
    breaker.unjudged.erase(device);
  }
}

void State::end_rows(Study& study, const std::string& device) {
  ++study.breaker.results;
  end_row(study, device);
  if (!has_barred) return;
  auto& barred = projects[study.project].barred;
  const auto everywhere = barred.find(device);
  if (everywhere == barred.end()) return;
  if (everywhere->second.bars > 0) dirty_projects.insert(study.project);
  barred.erase(everywhere);
}

void State::judge_failure(TrialKey key, const std::string& device) {
  Study& study = *find_study(key.study);
  Breaker& breaker = study.breaker;
  if (const auto probe = breaker.probes.find(key.number);
      probe != breaker.probes.end() && probe->second != device) {
    // Another device fails the trial, too. So the failures are not the first device's own.
    const std::string first = probe->second;
    std::erase_if(breaker.probes, [&](const auto& one) { return one.second == first; });
    end_row(study, first);
    return;
  }
  const auto row = breaker.rows.find(device);
  if (row == breaker.rows.end() || study.asked) return;
  std::vector<TrialNumber>& trials = row->second.trials;
  if (trials.size() == kKeptOfRow) trials.erase(trials.begin());
  trials.push_back(key.number);
  if (row->second.bars == 0) return;
  if (breaker.has_success_without(device) && has_other_device(study, device)) {
    probe_row(study, device, row->second);
  } else {
    breaker.unjudged.insert(device);
  }
}

void State::judge_success(Study& study, TrialNumber trial, const std::string& device) {
  Breaker& breaker = study.breaker;
  if (breaker.succeeded.empty()) {
    breaker.succeeded = device;
  } else if (breaker.also_succeeded.empty() && breaker.succeeded != device) {
    breaker.also_succeeded = device;
  }
  if (const auto probe = breaker.probes.find(trial); probe != breaker.probes.end()) {
    const auto row = breaker.rows.find(probe->second);
    if (row != breaker.rows.end() && probe->second != device) row->second.is_own = true;
    const std::string first = probe->second;
    breaker.probes.erase(probe);
    if (row != breaker.rows.end() && row->second.is_own) probe_row(study, first, row->second);
  }
  for (auto one = breaker.unjudged.begin(); one != breaker.unjudged.end();) {
    const std::string& barred = *one;
    if (!breaker.has_success_without(barred) || !has_other_device(study, barred)) {
      ++one;
      continue;
    }
    if (const auto row = breaker.rows.find(barred); row != breaker.rows.end())
      probe_row(study, barred, row->second);
    one = breaker.unjudged.erase(one);
  }
}

void State::probe_row(Study& study, const std::string& device, FailureRow& row) {
  while (!row.trials.empty() && (row.is_own || row.probes < kProbes)) {
    const TrialNumber trial = row.trials.back();
    row.trials.pop_back();
    if (!row.is_own) {
      ++row.probes;
      study.breaker.probes[trial] = device;
    }
    storage::RejectResults reject{.study = study.id,
                                  .which = {.device = device, .trial = trial},
                                  .last = AttemptId{next_attempt - 1},
                                  .reason = storage::kDeviceFails};
    propose_rejection({.next = std::move(reject)}, trial);
  }
}

}  // namespace hyperflock::dispatch
