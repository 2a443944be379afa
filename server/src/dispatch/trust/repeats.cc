// Bars devices that give the same value for one trial after another. Their trials run again on
// other devices, which shows whether the value is the device's own (R75).
#include <algorithm>
#include <utility>

#include "dispatch/breaker.h"
#include "dispatch/state.h"

namespace hyperflock::dispatch {

void State::count_values(Study& study, const std::string& device,
                         const std::vector<double>& values) {
  Repeats& all = study.repeats;
  ++all.results;
  auto found = all.rows.find(device);
  if (found == all.rows.end()) {
    if (!make_room(all.rows)) return;
    found = all.rows.try_emplace(device).first;
  }
  ValueRow& row = found->second;
  if (row.length > 0 && row.values == values) {
    ++row.length;
    ++all.repeated;
  } else if (row.bars == 0 || row.is_own) {
    if (row.bars > 0) {
      dirty_projects.insert(study.project);
      // A probe says nothing about the next value, and a row that bars nobody may be forgotten.
      std::erase_if(all.probes, [&](const auto& one) { return one.second.device == device; });
    }
    all.unjudged.erase(device);
    row = {.values = values, .length = 1};
    return;
  }
  // Another value lifts no bar before somebody has found out whose the first one was.
  if (row.bars == 0) {
    if (all.is_usual(values)) return;
    const std::int64_t repeats = row.length - 1;
    const std::int64_t enough = length_that_bars(all.repeated - repeats, all.results - row.length,
                                                 settings.same_values - 1);
    if (repeats < enough) return;
  }
  row.until = now + bar_ms(settings.bar_ms, settings.longest_bar_ms, ++row.bars);
  has_barred = projects[study.project].bars = true;
  note_missing_device(study.project);
}

void State::judge_values(Study& study, TrialNumber trial, const std::string& device,
                         const std::vector<double>& values) {
  Repeats& all = study.repeats;
  if (const auto found = all.probes.find(trial); found != all.probes.end()) {
    const ValueProbe probe = found->second;
    ValueRow& first = all.rows.at(probe.device);
    const std::int64_t most = settings.same_values / 2 + 1;
    if (probe.device == device) {
      end_probe(study, trial);
    } else {
      all.probes.erase(found);
      const bool is_alike = are_alike(values, probe.values);
      std::int64_t& votes = is_alike ? first.alike : first.differing;
      if (++votes == most && is_alike) {
        believe_values(study, values);
      } else if (votes == most) {
        first.is_own = true;
        all.unjudged.insert(probe.device);
      }
    }
  }
  const auto own = all.rows.find(device);
  if (own != all.rows.end() && own->second.values == values) {
    ValueRow& row = own->second;
    if (row.trials.size() == kKeptOfRow) row.trials.erase(row.trials.begin());
    row.trials.push_back(trial);
    if (row.bars > 0) all.unjudged.insert(device);
  }
  // All of them are barred, so another device that is not barred is there for each or for none.
  if (all.unjudged.empty() || !has_other_device(study, *all.unjudged.begin())) return;
  for (const std::string& one : std::exchange(all.unjudged, {})) probe_values(study, one);
}

void State::believe_values(Study& study, const std::vector<double>& values) {
  Repeats& all = study.repeats;
  if (all.usual.size() < kMostUsualValues) all.usual.push_back(values);
  std::erase_if(all.probes, [&](const auto& one) { return are_alike(one.second.values, values); });
  std::erase_if(all.rows, [&](const auto& one) {
    if (one.second.bars == 0 || !are_alike(one.second.values, values)) return false;
    all.unjudged.erase(one.first);
    return true;
  });
  dirty_projects.insert(study.project);
}

void State::end_probe(Study& study, TrialNumber trial) {
  Repeats& all = study.repeats;
  const auto found = all.probes.find(trial);
  if (found == all.probes.end()) return;
  const std::string device = std::move(found->second.device);
  all.probes.erase(found);
  --all.rows.at(device).probes;
  all.unjudged.insert(device);
}

void State::probe_values(Study& study, const std::string& device) {
  ValueRow& row = study.repeats.rows.at(device);
  while (!row.trials.empty() && (row.is_own || row.probes < settings.same_values)) {
    const TrialNumber trial = row.trials.back();
    row.trials.pop_back();
    if (!row.is_own) {
      ++row.probes;
      study.repeats.probes[trial] = {device, row.values};
    }
    storage::RejectResults reject{.study = study.id,
                                  .which = {.device = device, .trial = trial},
                                  .last = AttemptId{next_attempt - 1},
                                  .reason = storage::kSameValue};
    propose_rejection({.next = std::move(reject)}, trial);
  }
}

}  // namespace hyperflock::dispatch
