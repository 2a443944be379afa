// Handles sessions and devices: opening, replacing, closing and revoking (R8, R20 to R22).
#include <algorithm>
#include <utility>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

void State::on(const SessionOpened& event) {
  if (read_only) {
    effects.emplace_back(Close{event.session, kCloseTryAgainLater, "storage_unavailable"});
    return;
  }
  if (revoked.contains(event.device)) {
    effects.emplace_back(Close{event.session, kCloseDeviceRevoked, "device_revoked"});
    return;
  }
  Device& device = devices[event.device];
  if (device.session) {  // a device has one session at a time (R8)
    const SessionId old = *device.session;
    effects.emplace_back(Close{old, kCloseReplaced, "replaced"});
    forget_session(old);
  }
  Device& kept = devices[event.device];  // forget_session() may have dropped it
  kept.session = event.session;
  sessions.emplace(event.session, Session{.device = event.device,
                                          .project = event.project,
                                          .capabilities = event.capabilities,
                                          .idle_order = 0,
                                          .pending = 0,
                                          .cannot_run = {}});
  count_devices(sessions.at(event.session), 1);
  protocol::Welcome welcome{.protocol = protocol::kProtocolVersion,
                            .session = to_int(event.session),
                            .server = settings.server_version,
                            .heartbeat_ms = settings.heartbeat_ms,
                            .lease_ms = settings.lease_ms,
                            .attempts = {}};
  const std::vector<AttemptId> open = kept.open;
  for (const AttemptId id : open) {  // the device keeps those that it still holds (R21)
    const bool named = std::find(event.held.begin(), event.held.end(), id) != event.held.end();
    Attempt* live = named ? find_live(id, event.device) : nullptr;
    if (live == nullptr) {
      let_go(id, storage::AttemptState::released);
      continue;
    }
    touch(id, *live);
    welcome.attempts.push_back(id);
  }
  send(event.session, std::move(welcome));
}

void State::on(const SessionClosed& event) {
  const auto found = sessions.find(event.session);
  if (found == sessions.end()) return;           // replaced or closed before
  if (event.how == SessionClosed::How::clean) {  // a clean close releases at once (R22)
    const std::vector<AttemptId> open = devices[found->second.device].open;
    for (const AttemptId id : open) let_go(id, storage::AttemptState::released);
  }
  forget_session(event.session);
}

void State::on(const DeviceErasing& event) {
  if (event.step == DeviceErasing::Step::begins) {
    std::optional<SessionId>& waiting = erasing[event.device];
    const auto found = devices.find(event.device);
    if (found == devices.end() || !found->second.session) return;
    Session& session = sessions.at(*found->second.session);
    if (session.idle_order != 0) waiting = found->second.session;
    leave_queue(session, *found->second.session);
  } else if (const auto one = erasing.extract(event.device); !one.empty()) {
    if (one.mapped()) ask(*one.mapped());
  }
}

void State::on(const DeviceRevoked& event) {
  revoked.insert(event.device);
  erasing.erase(event.device);
  const auto found = devices.find(event.device);
  if (found == devices.end()) return;
  const std::vector<AttemptId> open = found->second.open;
  const std::optional<SessionId> session = found->second.session;
  for (const AttemptId id : open) {
    revoke(attempts.at(id), id, protocol::RevokeCode::device_revoked);
    let_go(id, storage::AttemptState::revoked);
  }
  if (!session) return;
  effects.emplace_back(Close{*session, kCloseDeviceRevoked, "device_revoked"});
  forget_session(*session);
}

void State::on(const DrainStarted&) {
  draining = true;
  for (const auto& [name, project] : projects)
    dirty_projects.insert(name);  // idle workers do not count as demand any more
}

void State::on(const RoomChanged& event) {
  if (disk_has_room == event.has_room) return;
  disk_has_room = event.has_room;
  for (const auto& [name, project] : projects) dirty_projects.insert(name);
}

void State::forget_session(SessionId id) {
  const auto found = sessions.find(id);
  if (found == sessions.end()) return;
  leave_queue(found->second, id);
  count_devices(found->second, -1);
  const auto device = devices.find(found->second.device);
  device->second.session.reset();
  if (device->second.open.empty()) devices.erase(device);
  const std::string project = std::move(found->second.project);
  sessions.erase(found);
  note_missing_device(project);
}

void State::let_go(AttemptId id, storage::AttemptState state,
                   std::optional<protocol::Failure> failure) {
  Attempt& attempt = attempts.at(id);
  if (!attempt.committed) {
    attempt.end_state = state;
    return;
  }
  const TrialKey trial = attempt.trial;
  propose(storage::EndAttempt{id, state, std::move(failure), times_of(attempt, now)});
  drop_attempt(id);
  requeue(trial, 0);
}

}  // namespace hyperflock::dispatch
