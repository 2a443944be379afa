// Notices when a running study has had no device for a while (R62). Only studies whose webhook asks
// for this event are watched, because the server compares each session with each watched study.
#include <algorithm>
#include <utility>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

namespace {

bool may_run(const Session& session, const Study& study) {
  return session.project == study.project &&
         protocol::unmet(study.spec, session.capabilities).empty();
}

}  // namespace

bool wants_devices(const std::optional<protocol::Webhook>& webhook) {
  if (!webhook) return false;
  return webhook->events.empty() ||
         std::ranges::count(webhook->events, protocol::WebhookEvent::no_devices) > 0;
}

void State::on(const WebhookSet& event) {
  Study* study = find_study(event.study);
  if (study == nullptr) return;
  unwatch_devices(*study);
  // A new webhook also clears the stored note that the study has been without devices.
  if (event.wants_devices) watch_devices(*study, false);
}

void State::watch_devices(Study& study, bool deviceless) {
  DeviceWatch& watch = study.watch.emplace();
  for (const auto& [id, session] : sessions) watch.devices += may_run(session, study) ? 1 : 0;
  watch.had_devices = deviceless || study.succeeded || study.running > 0;
  watch.deviceless = deviceless;
  projects[study.project].watched.insert(study.id);
  judge_devices(study);
}

void State::unwatch_devices(Study& study) {
  if (!study.watch) return;
  if (study.watch->due) absences.erase({*study.watch->due, study.id});
  study.watch.reset();
  projects[study.project].watched.erase(study.id);
}

void State::count_devices(const Session& session, int change) {
  const auto project = projects.find(session.project);
  if (project == projects.end()) return;
  for (const StudyId id : project->second.watched) {
    Study& study = studies.at(id);
    if (!may_run(session, study)) continue;
    study.watch->devices += change;
    judge_devices(study);
  }
}

void State::judge_devices(Study& study) {
  if (!study.watch) return;
  DeviceWatch& watch = *study.watch;
  if (watch.devices > 0) {
    watch.had_devices = true;
    if (std::exchange(watch.deviceless, false)) propose(storage::NoteDevices{study.id, true});
  }
  // A study whose trials may not be leased for now needs no devices.
  const bool absent =
      watch.devices == 0 && watch.had_devices && !watch.deviceless && !study.is_held();
  if (absent == watch.due.has_value()) return;
  if (absent) {
    watch.due = now + settings.no_devices_ms;
    absences.emplace(*watch.due, study.id);
  } else {
    absences.erase({*watch.due, study.id});
    watch.due.reset();
  }
}

void State::note_absences() {
  while (!absences.empty() && absences.begin()->first <= now) {
    Study& study = studies.at(absences.begin()->second);
    absences.erase(absences.begin());
    study.watch->due.reset();
    // While the server is about to stop, all devices leave it. This is not reported; they are
    // counted again after the next start.
    if (study.ending || draining) continue;
    study.watch->deviceless = true;
    propose(storage::NoteDevices{study.id, false});
    changed.insert(study.id);
  }
}

}  // namespace hyperflock::dispatch
