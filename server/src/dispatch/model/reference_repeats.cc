// Devices that give the same value for one trial after another in the reference model (R75); see
// reference.h. The limits are those of the dispatcher.
#include <algorithm>

#include "dispatch/breaker.h"
#include "dispatch/model/reference.h"

namespace hyperflock::dispatch {

void Reference::count_value(const Attempt& attempt, double value) {
  Study& study = studies_.at(attempt.study);
  Same& same = study.same[attempt.device];
  ++study.values;
  const bool is_repeated = same.length > 0 && same.value == value;
  if (!is_repeated && (same.bars == 0 || same.own)) {
    if (same.bars > 0) {
      std::erase_if(study.value_probes,
                    [&](const auto& one) { return one.second == attempt.device; });
    }
    same = {.value = value, .length = 1};
    return;
  }
  if (is_repeated) {
    ++same.length;
    ++study.repeated;
  }
  if (same.bars == 0) {
    const Id repeats = same.length - 1;
    const Id enough = length_that_bars(study.repeated - repeats, study.values - same.length,
                                       settings_.same_values - 1);
    if (study.usual.contains(value) || repeats < enough) return;
  }
  same.until = now_ + bar_ms(settings_.bar_ms, settings_.longest_bar_ms, ++same.bars);
}

void Reference::judge_value(const Attempt& attempt, double value) {
  Study& study = studies_.at(attempt.study);
  const auto probe = study.value_probes.find(attempt.trial);
  if (probe != study.value_probes.end() && probe->second == attempt.device) {
    end_probe(study, attempt.trial);
  } else if (probe != study.value_probes.end()) {
    const std::string device = probe->second;
    study.value_probes.erase(probe);
    Same& same = study.same.at(device);
    const bool is_same = same.value == value;
    Id& votes = is_same ? same.alike : same.differing;
    const bool is_decided = ++votes == settings_.same_values / 2 + 1;
    if (is_decided && is_same) {
      study.usual.insert(value);
      const auto is_usual = [&](const std::string& one) {
        return study.same.at(one).value == value;
      };
      std::erase_if(study.value_probes, [&](const auto& one) { return is_usual(one.second); });
      std::erase_if(study.same, [&](const auto& one) {
        return one.second.bars > 0 && one.second.value == value;
      });
    } else if (is_decided) {
      same.own = true;
      convictions_ += !same.trials.empty();
      same.judged = false;
    }
  }
  const auto same = study.same.find(attempt.device);
  if (same != study.same.end() && same->second.value == value) {
    same->second.trials.push_back(attempt.trial);
    if (same->second.bars > 0) same->second.judged = false;
  }
  for (auto& [device, one] : study.same) {
    if (one.judged || !has_other_device(attempt.study, device)) continue;
    one.judged = true;
    probe_values(attempt.study, device);
  }
}

void Reference::end_probe(Study& study, Id trial) {
  const auto probe = study.value_probes.find(trial);
  if (probe == study.value_probes.end()) return;
  Same& same = study.same.at(probe->second);
  --same.probes;
  same.judged = false;
  study.value_probes.erase(probe);
}

void Reference::probe_values(Id study_id, const std::string& device) {
  Study& study = studies_.at(study_id);
  Same& same = study.same.at(device);
  while (!same.trials.empty() && (same.own || same.probes < settings_.same_values)) {
    const Id trial = same.trials.back();
    same.trials.pop_back();
    if (!same.own) {
      ++same.probes;
      study.value_probes[trial] = device;
    }
    probe(study_id, trial, device);
  }
}

}  // namespace hyperflock::dispatch
