// Handles the owners of ask-and-tell studies: claims, the trials that they ask for, and the batches
// that they are sent (R42 to R46, R50, R51).
#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

using storage::Applied;

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTexts{{
    {"not_asked", "Own a study whose trials are asked for: this one is a grid."},
    {"not_owner", "Claim the study by `watch` with `own` before you speak for it."},
    {"trial_exists", "Ask with a number that the study does not have yet."},
    {"study_cancelled", "The study was cancelled and stays so: submit another one."},
    {"study_stopped", "The study is over: claim it again to go on with it."},
    {"conflict", "The study could not be claimed now: try it again."},
    {"unknown_study", "There is no such study, or it belongs to somebody else."},
}};

protocol::OwnerCall stand_by(StudyId study) {
  return {.study = study, .generation = 0, .batch = 0, .demand = 0, .calls = {}};
}

struct ItemBytes {
  static constexpr std::size_t kFrame = 96;
  static constexpr std::size_t kPoint = 24;
  std::size_t operator()(const protocol::SuggestCall& one) const {
    return kFrame + one.name.size() + one.distribution.size() * 5 / 4;
  }
  std::size_t operator()(const protocol::PruneCall& one) const {
    return kFrame + one.points.size() * kPoint;
  }
  std::size_t operator()(const protocol::PointsCall& one) const {
    return kFrame + one.points.size() * kPoint;
  }
  std::size_t operator()(const protocol::ResumedCall&) const { return kFrame; }
  std::size_t operator()(const protocol::StartedCall& one) const {
    return kFrame + one.device.size();
  }
  std::size_t operator()(const protocol::FinishedCall& one) const {
    std::size_t bytes = 2 * kFrame + (one.params.size() + one.attrs.size()) * 5 / 4 +
                        (one.points.size() + one.values.size()) * kPoint;
    if (one.failure) bytes += one.failure->message.size() + one.failure->traceback.size() * 5 / 4;
    return bytes;
  }
};

}  // namespace

std::size_t bytes_of(const protocol::OwnerCallItem& item) { return std::visit(ItemBytes{}, item); }

std::int64_t Asked::demand() const {
  return std::min(room, std::max<std::int64_t>(0, waiting - uncommitted_asks));
}

void Asked::drop_items() {
  items.clear();
  item_bytes = 0;
}

// ---- claims

void State::on(const StudyClaimed& event) {
  if (read_only) {
    effects.emplace_back(Close{event.session, kCloseTryAgainLater, "storage_unavailable"});
    return;
  }
  const StudyId id = event.study.id;
  const bool waits = event.standby && is_owned(id);
  Claim& claim = claims
                     .insert_or_assign(event.session, Claim{.study = id,
                                                            .label = event.label,
                                                            .standby = event.standby,
                                                            .proposed = false,
                                                            .quota = event.quota,
                                                            .row = event.study})
                     .first->second;
  if (waits) return tell_owner(event.session, stand_by(id));
  propose_claim(event.session, claim);
}

void State::propose_claim(SessionId id, Claim& claim) {
  claim.proposed = true;
  propose(storage::ClaimStudy{claim.study, claim.label, claim.quota}, PendingClaim{id, claim.row});
}

bool State::is_owned(StudyId study) const {
  const auto found = studies.find(study);
  if (found != studies.end() && found->second.asked && found->second.asked->owner) return true;
  return std::any_of(claims.begin(), claims.end(), [study](const auto& one) {
    return one.second.study == study && one.second.proposed;
  });
}

void State::promote(StudyId study) {
  if (is_owned(study)) return;
  for (auto& [id, claim] : claims) {
    if (claim.study == study && claim.standby) return propose_claim(id, claim);
  }
}

void State::on_outcome(PendingClaim& what, const storage::Outcome& outcome) {
  const StudyId id = what.row.id;
  const auto claim = claims.find(what.session);
  if (claim != claims.end()) claim->second.proposed = false;
  if (outcome.applied != Applied::applied) {
    if (claim != claims.end()) {
      if (outcome.excess) {
        over_quota(what.session, *outcome.excess, id);
      } else {
        // The study was cancelled or deleted after its row was read, or it is not an ask-and-tell
        // study.
        const bool asked = what.row.spec.kind == protocol::StudyKind::asked;
        const bool cancelled = outcome.applied == Applied::superseded;
        owner_error(what.session,
                    cancelled ? "study_cancelled"
                    : asked   ? "unknown_study"
                              : "not_asked",
                    id);
      }
      claims.erase(claim);
    }
    return promote(id);
  }
  changed.insert(id);
  if (find_study(id) == nullptr) {  // the study has finished
    open_study({.id = id,
                .owner = what.row.owner,
                .project = what.row.project,
                .spec = what.row.spec,
                .total = what.row.total,
                .next_number = 0,
                .running = 0,
                .priority = outcome.priority,
                .ending = false,
                .trials = {},
                .queue = {},
                .rank = {}});
    studies.at(id).asked.emplace().wanted = what.row.wanted;
    studies.at(id).succeeded = what.row.complete + what.row.pruned > 0;
  }
  Study& study = studies.at(id);
  if (const auto former = study.asked->owner) {
    detach(study);
    if (const auto old = claims.find(*former); old != claims.end() && old->second.standby) {
      tell_owner(*former, stand_by(id));
    } else if (old != claims.end()) {
      effects.emplace_back(Close{*former, kCloseOwnerReplaced, "replaced"});
      claims.erase(old);
    }
  }
  study.asked->generation = outcome.id;
  if (claim == claims.end()) return promote(id);  // its connection has closed
  attach(study, what.session, claim->second);
}

void State::attach(Study& study, SessionId owner, Claim& claim) {
  Asked& asked = *study.asked;
  asked.owner = owner;
  asked.quota = claim.quota;
  asked.finish = false;
  asked.sent = asked.taken = asked.told = 0;
  if (asked.due) {
    silences.erase({*asked.due, study.id});
    asked.due.reset();
  }
  projects[study.project].owned.insert(study.id);
  effects.emplace_back(OwnerChanged{study.id, true});
  tell_owner(
      owner,
      protocol::OwnerCall{
          .study = study.id, .generation = asked.generation, .batch = 0, .demand = 0, .calls = {}});
  queue_running_trials(study);
  rank(study);
  dirty_projects.insert(study.project);
}

void State::detach(Study& study) {
  Asked& asked = *study.asked;
  if (!asked.owner) return;
  asked.owner.reset();
  asked.away = now;
  asked.room = asked.waiting = 0;
  asked.drop_items();
  projects[study.project].owned.erase(study.id);
  effects.emplace_back(OwnerChanged{study.id, false});
  changed.insert(study.id);
  rank(study);
  dirty_projects.insert(study.project);
  arm_silence(study);
}

void State::on(const OwnerClosed& event) {
  const auto found = claims.find(event.session);
  if (found == claims.end()) return;  // replaced or refused before
  const StudyId id = found->second.study;
  claims.erase(found);
  Study* study = find_study(id);
  if (study != nullptr && study->asked && study->asked->owner == event.session) detach(*study);
  promote(id);
}

void State::end_claims(StudyId study, std::string_view code) {
  for (auto claim = claims.begin(); claim != claims.end();) {
    if (claim->second.study != study || claim->second.proposed) {
      ++claim;
      continue;
    }
    owner_error(claim->first, code, study);
    claim = claims.erase(claim);
  }
}

// ---- replies of an owner

void State::on(const OwnerReplied& event) {
  const protocol::OwnerReply& reply = event.reply;
  const auto claim = claims.find(event.session);
  Study* study = claim == claims.end() ? nullptr : find_study(claim->second.study);
  if (study == nullptr || study->id != reply.study || !study->asked ||
      study->asked->owner != event.session) {
    return owner_error(event.session, "not_owner", reply.study);
  }
  Asked& asked = *study->asked;
  if (reply.taken == asked.sent) asked.taken = asked.sent;
  asked.room = reply.room;
  for (const protocol::OwnerAnswer& one : reply.answers) answer(*study, one);
  for (const protocol::TrialConstraints& one : reply.constraints)
    propose(storage::StoreConstraints{{study->id, one.trial}, asked.generation, one.values},
            PendingConstraints{study->id});
  const bool stopped = study->ending || asked.finish;
  if (!reply.asked.empty() && stopped) owner_error(event.session, "study_stopped", study->id);
  const bool fits = disk_has_room || reply.asked.empty();
  if (!fits && !stopped) owner_error(event.session, "no_room", study->id);
  const bool wants = reply.target && *reply.target != asked.wanted;
  if (!stopped && fits && (!reply.asked.empty() || wants)) {
    if (reply.target) asked.wanted = *reply.target;
    storage::AskTrials ask{.study = study->id,
                           .generation = asked.generation,
                           .trials = {},
                           .wanted = reply.target,
                           .quota = asked.quota};
    ask.trials.reserve(reply.asked.size());
    for (const protocol::AskedTrial& one : reply.asked) {
      ask.trials.push_back({one.trial, one.params,
                            protocol::trial_seed(study->spec.seed, to_int(one.trial)), one.attrs,
                            one.constrained});
    }
    asked.uncommitted_asks += static_cast<std::int64_t>(ask.trials.size());
    PendingAsk what{event.session, study->id, ask.trials};
    propose(std::move(ask), std::move(what));
  }
  asked.finish = reply.finish || (asked.finish && asked.room == 0);
  rank(*study);
  dirty_projects.insert(study->project);
  end_if_finished(*study);
}

void State::on_outcome(PendingConstraints& what, const storage::Outcome& outcome) {
  if (outcome.applied == Applied::applied) changed.insert(what.study);
}

void State::on_outcome(PendingAsk& what, const storage::Outcome& outcome) {
  Study* study = find_study(what.study);
  if (study != nullptr)
    study->asked->uncommitted_asks -= static_cast<std::int64_t>(what.rows.size());
  if (outcome.excess) {
    over_quota(what.session, *outcome.excess, what.study);
  } else if (outcome.applied != Applied::applied && !what.rows.empty()) {
    owner_error(what.session, "study_stopped", what.study);
  }
  if (study == nullptr) return;
  if (outcome.applied == Applied::applied) {
    changed.insert(study->id);
    auto next = outcome.trials.begin();
    for (const storage::AskedRow& row : what.rows) {
      if (next == outcome.trials.end() || *next != row.number) {
        owner_error(what.session, "trial_exists", study->id, row.number);
        continue;
      }
      ++next;
      ++study->total;
      ++queued;
      AskedPart& part = study->trials[to_int(row.number)].asked.emplace();
      part.params = row.params;
      part.attrs = row.attrs;
      study->asked->fresh.push_back(row.number);
    }
  }
  rank(*study);
  dirty_projects.insert(study->project);
  end_if_finished(*study);
}

// ---- messages to an owner

void State::tell_owner(SessionId owner, protocol::ServerMessage message) {
  effects.emplace_back(Send{owner, std::move(message)});
}

void State::owner_error(SessionId owner, std::string_view code, StudyId study,
                        std::optional<TrialNumber> trial) {
  const auto text = std::find_if(kTexts.begin(), kTexts.end(),
                                 [&](const auto& one) { return one.first == code; });
  tell_owner(owner, protocol::ErrorMessage{
                        .code = std::string(code),
                        .message = std::string(text == kTexts.end() ? "" : text->second),
                        .field = {},
                        .id = {},
                        .attempt = {},
                        .study = study,
                        .trial = trial});
}

void State::over_quota(SessionId owner, const storage::Excess& excess, StudyId study) {
  const Error error = storage::quota_error(excess);
  tell_owner(owner, protocol::ErrorMessage{.code = error.code,
                                           .message = error.message,
                                           .field = error.field,
                                           .id = {},
                                           .attempt = {},
                                           .study = study});
}

void State::add_item(Study& study, protocol::OwnerCallItem item) {
  Asked& asked = *study.asked;
  if (!asked.owner) return;  // the next owner reads it from storage
  asked.item_bytes += bytes_of(item);
  asked.items.push_back(std::move(item));
  owners_to_flush.insert(study.id);
}

void State::flush_owner(StudyId id) {
  Study* study = find_study(id);
  if (study == nullptr || !study->asked->owner) return;
  Asked& asked = *study->asked;
  const SessionId owner = *asked.owner;
  if (asked.item_bytes > kMaxOwnerBacklogBytes) {
    effects.emplace_back(Close{owner, kCloseSlowPeer, "slow_peer"});
    claims.erase(owner);
    detach(*study);
    return promote(id);
  }
  const std::int64_t demand = asked.demand();
  // The demand may have become smaller, because the owner asked for trials or because devices left.
  // If nothing else has changed, no batch is sent to the owner.
  asked.told = std::min(asked.told, demand);
  if (asked.sent != asked.taken || (asked.items.empty() && demand == asked.told)) return;
  send_batch(*study, demand);
}

void State::send_all_items(StudyId id) {
  Study* study = find_study(id);
  if (study == nullptr || !study->asked || !study->asked->owner) return;
  while (!study->asked->items.empty()) send_batch(*study, 0);
}

// REQUIRES: the study has an owner.
void State::send_batch(Study& study, std::int64_t demand) {
  Asked& asked = *study.asked;
  protocol::OwnerCall batch{.study = study.id,
                            .generation = asked.generation,
                            .batch = ++asked.sent,
                            .demand = demand,
                            .calls = {}};
  asked.told = demand;
  std::size_t bytes = 0;
  while (!asked.items.empty() && batch.calls.size() < kMaxBatchItems) {
    const std::size_t next = bytes_of(asked.items.front());
    if (bytes > 0 && bytes + next > kMaxBatchBytes) break;
    bytes += next;
    batch.calls.push_back(std::move(asked.items.front()));
    asked.items.pop_front();
  }
  asked.item_bytes = asked.items.empty() ? 0 : asked.item_bytes - bytes;
  tell_owner(*asked.owner, std::move(batch));
}

}  // namespace hyperflock::dispatch
