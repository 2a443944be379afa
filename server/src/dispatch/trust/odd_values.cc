// Keeps a trial from the device whose value was outside of the study's range, as long as another
// device may run it (R73).
#include <utility>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

void State::set_odd_device(Study& study, TrialKey key, Trial& trial, const std::string& device) {
  const bool waits = trial.queue_order != 0;
  if (waits) count_excluded(study, trial, -1);
  trial.odd_device = device;
  if (waits) {
    count_excluded(study, trial, 1);
    rank(study);
  }
  if (!device.empty()) {
    projects[study.project].odd_trials.insert(key);
  } else {
    dirty_projects.insert(study.project);
  }
}

void State::lift_odd_devices(Project& project) {
  if (!std::exchange(project.lacks_device, false)) return;
  std::erase_if(project.odd_trials, [&](TrialKey key) {
    Study* study = find_study(key.study);
    Trial* trial = find_trial(key);
    if (trial == nullptr || trial->odd_device.empty()) return true;
    if (has_other_device(*study, trial->odd_device)) return false;
    set_odd_device(*study, key, *trial, {});
    return true;
  });
}

}  // namespace hyperflock::dispatch
