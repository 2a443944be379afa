// Charges researchers and projects for the time of devices, and lends idle devices (R70).
#include "dispatch/shares.h"

#include <algorithm>
#include <tuple>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

std::int64_t State::lent_weight(const std::string& project) const {
  return storage::weight_of_project(rules, project);
}

void State::add_served(Study& study, bool lent, Millis device_ms) {
  Project& project = projects[study.project];
  StudyOrder& order = project.ranked;
  order.add(study.account, cost_of(device_ms, order.weight_of(study.account)));
  if (lent) project.lent_served += cost_of(device_ms, lent_weight(study.project));
  if (!project.owned.empty() && !project.idle.empty()) dirty_projects.insert(study.project);
}

void State::charge(const Chosen& chosen, Attempt& attempt) {
  Study& study = *chosen.study;
  Project& project = projects[study.project];
  StudyOrder& order = project.ranked;
  attempt.paid_until = now + kPrepaidMs;
  attempt.lent = chosen.lent;
  study.since = now;
  const Millis slack = slack_ms(project.running);
  const std::int64_t weight = order.weight_of(study.account);
  order.serve(study.account, cost_of(kPrepaidMs, weight), cost_of(slack, weight), chosen.how, now);
  if (!project.owned.empty() && !project.idle.empty()) dirty_projects.insert(study.project);
  if (!chosen.lent) return;
  const std::int64_t lent = lent_weight(study.project);
  serve_next(lent_time, project.lent_served, cost_of(kPrepaidMs, lent), cost_of(slack, lent),
             !chosen.lent_by_guarantee);
  lent_by_guarantee = chosen.lent_by_guarantee;
}

void State::charge_restored(Study& study, Attempt& attempt) {
  attempt.paid_until = now + kPrepaidMs;
  add_served(study, false, kPrepaidMs);
}

void State::charge_more(Attempt& attempt) {
  Study& study = studies.at(attempt.trial.study);
  const Project& project = projects[study.project];
  const Millis more = now + kPrepaidMs - attempt.paid_until;
  const std::int64_t weight = project.ranked.weight_of(study.account);
  // Beyond the most lead, the time that has passed is not charged.
  attempt.paid_until = now;
  if (project.ranked.is_ahead(study.account, cost_of(more, weight),
                              cost_of(kMostLeadMs * project.running, weight)))
    return;
  attempt.paid_until = now + kPrepaidMs;
  add_served(study, attempt.lent, more);
}

void State::settle(Study& study, const Attempt& attempt) {
  const Millis unused = unused_ms(attempt.loading_since, attempt.paid_until, now);
  if (unused != 0) add_served(study, attempt.lent, -unused);
}

bool State::is_below_guarantee(const std::string& owner) const {
  const std::int64_t guaranteed = storage::guaranteed_to_researcher(rules, owner);
  if (guaranteed == 0) return false;
  const auto running = running_of.find(owner);
  return running == running_of.end() || running->second < guaranteed;
}

void State::note_guarantee(const std::string& owner) {
  const bool below = is_below_guarantee(owner);
  for (auto& [name, project] : projects) {
    const auto account = project.ranked.find(owner);
    if (!account) continue;
    project.ranked.set_below(*account, below);
    if (!project.owned.empty() && !project.idle.empty()) dirty_projects.insert(name);
  }
}

void State::apply_shares() {
  lending = std::ranges::any_of(rules.shares_of_projects,
                                [](const auto& one) { return !one.second.lends.empty(); });
  for (auto& [name, project] : projects) {
    for (const auto& [owner, account] : project.ranked.accounts()) {
      project.ranked.set_weight(account, storage::weight_of_researcher(rules, owner));
      project.ranked.set_below(account, is_below_guarantee(owner));
    }
  }
}

State::Chosen State::choose_lent(const Session& session, Turn turn) {
  if (!rules.shares_of_projects.contains(session.project)) return {};
  struct Borrower {
    bool in_order;  // not below its guarantee
    std::int64_t served;
    const std::string* name;
  };
  std::vector<Borrower> borrowers;
  for (const auto& [name, project] : projects) {
    if (project.ranked.empty() || !storage::lends(rules, session.project, name)) continue;
    // Of two lent devices, at most one goes to a project because of its guarantee. So the other
    // projects get some, too.
    const bool below =
        !lent_by_guarantee && project.running < storage::guaranteed_to_project(rules, name);
    borrowers.push_back({!below, project.lent_served, &name});
  }
  std::ranges::sort(borrowers, [](const Borrower& one, const Borrower& other) {
    return std::tie(one.in_order, one.served, *one.name) <
           std::tie(other.in_order, other.served, *other.name);
  });
  for (const Borrower& one : borrowers) {
    Chosen chosen = choose(*one.name, session, turn, Among::work);
    if (chosen.study == nullptr) continue;
    chosen.lent = true;
    chosen.lent_by_guarantee = !one.in_order;
    return chosen;
  }
  return {};
}

std::optional<TransitionId> State::start_lent(SessionId id) {
  Session& session = sessions.at(id);
  if (leases_nothing() || session.idle_order == 0) return std::nullopt;
  if (awaits_owner(session) && now - session.idle_since < settings.hold_ms) return std::nullopt;
  const Chosen chosen = choose_lent(session, Turn::asks);
  if (chosen.study == nullptr) return std::nullopt;
  return start(chosen, id, session);
}

void State::lend() {
  if (leases_nothing()) return;
  for (const auto& [lender, share] : rules.shares_of_projects) {
    const auto found = projects.find(lender);
    if (share.lends.empty() || found == projects.end()) continue;
    const Project& project = found->second;
    int passed_over = 0;
    auto next = project.idle.begin();
    while (next != project.idle.end() && passed_over < kMaxPassedOver) {
      const SessionId id = next->second;
      ++next;
      Session& session = sessions.at(id);
      // A worker that counts as demand for an owner waits for that owner.
      const bool has_own =
          awaits_owner(session) || choose(lender, session, Turn::waits).study != nullptr;
      const Chosen chosen = has_own ? Chosen{} : choose_lent(session, Turn::waits);
      if (chosen.study == nullptr) {
        ++passed_over;
        continue;
      }
      start(chosen, id, session);
    }
  }
}

}  // namespace hyperflock::dispatch
