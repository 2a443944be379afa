// Shares of the devices, and lent devices (R70), in the reference model. See reference.h.
#include <algorithm>

#include "dispatch/model/reference.h"

namespace hyperflock::dispatch {

using storage::AttemptState;
using storage::CeilingScope;
using storage::StudyState;

namespace {

constexpr Millis kPrepaid = 60'000;
constexpr Millis kLeastCharged = 1'000;
constexpr Millis kMostLead = 600'000;
constexpr Millis kLocality = 300'000;

// Returns time of devices as virtual time.
Reference::Id cost(Millis device_ms, Reference::Id weight) { return device_ms * 1'000 / weight; }

}  // namespace

Said Reference::share(CeilingScope scope, const std::string& name, const storage::Share& share) {
  begin();
  shares_[{scope, name}] = share;
  finish_event();
  return done();
}

Reference::Id Reference::weight_of(CeilingScope scope, const std::string& name) const {
  const auto found = shares_.find({scope, name});
  return found == shares_.end() ? 100 : found->second.weight.value_or(100);
}

Reference::Id Reference::guaranteed_to(CeilingScope scope, const std::string& name) const {
  const auto found = shares_.find({scope, name});
  return found == shares_.end() ? 0 : found->second.guaranteed;
}

bool Reference::lends(const std::string& lender, const std::string& project) const {
  const auto found = shares_.find({CeilingScope::project, lender});
  if (found == shares_.end() || lender == project) return false;
  return found->second.lends.contains(project) || found->second.lends.contains("*");
}

std::set<std::string> Reference::all_projects() const {
  std::set<std::string> projects;
  for (const auto& [id, study] : studies_) projects.insert(study.options.project);
  return projects;
}

Reference::Id Reference::devices_of(const std::string& owner) const {
  return std::ranges::count_if(attempts_, [&](const auto& one) {
    return one.second.state == AttemptState::live &&
           studies_.at(one.second.study).options.owner == owner;
  });
}

Reference::Id Reference::devices_in(const std::string& project) const {
  return std::ranges::count_if(attempts_, [&](const auto& one) {
    return one.second.state == AttemptState::live &&
           studies_.at(one.second.study).options.project == project;
  });
}

// ---- what somebody has been served

void Reference::begin_to_run(Id id) {
  studies_.at(id).since = now_;
  forget_rows(studies_.at(id));
  studies_.at(id).points = {};
  account_of(studies_.at(id));
}

Reference::Account& Reference::account_of(const Study& study) {
  for (Account& one : accounts_) {
    if (one.project == study.options.project && one.owner == study.options.owner) return one;
  }
  return accounts_.emplace_back(
      Account{.project = study.options.project, .owner = study.options.owner, .since = now_});
}

void Reference::add_served(const Attempt& attempt, Millis device_ms) {
  const Study& study = studies_.at(attempt.study);
  Account& account = account_of(study);
  account.served += cost(device_ms, weight_of(CeilingScope::researcher, account.owner));
  if (attempt.lent)
    lent_served_[account.project] +=
        cost(device_ms, weight_of(CeilingScope::project, account.project));
}

void Reference::charge(Attempt& attempt, const Chosen& chosen) {
  Study& study = studies_.at(attempt.study);
  Account& account = account_of(study);
  Pool& pool = pools_[account.project];
  attempt.paid_until = now_ + kPrepaid;
  attempt.lent = chosen.lent;
  study.since = account.since = now_;
  account.by_age = chosen.study_by_age;
  pool.by_age = chosen.owner_by_age;
  const Millis slack = kPrepaid * (devices_in(account.project) + 1);
  const Id weight = weight_of(CeilingScope::researcher, account.owner);
  account.served = std::max(account.served, pool.virtual_time - cost(slack, weight));
  if (chosen.was_next) pool.virtual_time = std::max(pool.virtual_time, account.served);
  if (chosen.lent) {
    Id& served = lent_served_[account.project];
    const Id of_project = weight_of(CeilingScope::project, account.project);
    served = std::max(served, lent_time_ - cost(slack, of_project));
    if (!chosen.lent_by_guarantee) lent_time_ = std::max(lent_time_, served);
    lent_by_guarantee_ = chosen.lent_by_guarantee;
  }
  add_served(attempt, kPrepaid);
}

void Reference::charge_restored(Attempt& attempt) {
  attempt.paid_until = now_ + kPrepaid;
  attempt.lent = false;
  add_served(attempt, kPrepaid);
}

void Reference::charge_more(Attempt& attempt) {
  if (attempt.state != AttemptState::live) return;
  const Millis more = now_ + kPrepaid - attempt.paid_until;
  const Account& account = account_of(studies_.at(attempt.study));
  const Id weight = weight_of(CeilingScope::researcher, account.owner);
  const Id lead = cost(kMostLead * devices_in(account.project), weight);
  attempt.paid_until = now_;
  if (account.served + cost(more, weight) > pools_[account.project].virtual_time + lead) return;
  attempt.paid_until = now_ + kPrepaid;
  add_served(attempt, more);
}

void Reference::settle(const Attempt& attempt) {
  const Instant used = std::max(now_, attempt.leased + kLeastCharged);
  add_served(attempt, used - attempt.paid_until);
}

// ---- who is next

Reference::Ids Reference::candidates(const std::string& worker, const std::string& project,
                                     Turn turn, bool with_room) const {
  Ids out;
  for (const auto& [id, study] : studies_) {
    if (study.options.project != project || !may_run(worker, id)) continue;
    if (is_at_ceiling(study) || is_barred(id, worker, turn)) continue;
    const bool room =
        with_room && wants(study) && study.waiting < study.room + study.uncommitted_asks;
    if (has_work_for(worker, study) || room) out.push_back(id);
  }
  return out;
}

// Returns the researcher's next study of these.
std::optional<Reference::Chosen> Reference::choose_of(const std::string& worker,
                                                      const Account& account, Ids all,
                                                      bool asks) const {
  std::erase_if(all, [&](Id id) { return studies_.at(id).options.owner != account.owner; });
  std::optional<Id> oldest;
  for (const Id id : all) {
    const Study& study = studies_.at(id);
    if (!asks || account.by_age || !has_work_for(worker, study)) continue;
    if (now_ - study.since < settings_.aging_ms) continue;
    if (!oldest || study.since < studies_.at(*oldest).since) oldest = id;
  }
  if (oldest) return Chosen{.study = *oldest, .study_by_age = true};
  std::optional<Id> best;
  for (const Id id : all) {
    // Of the candidates of one owner, only those with the highest priority compete (R61).
    const bool takes_part = std::ranges::none_of(
        all, [&](Id other) { return studies_.at(other).priority > studies_.at(id).priority; });
    if (takes_part && (!best || running_of(id) < running_of(*best))) best = id;
  }
  if (!best) return std::nullopt;
  return Chosen{.study = *best};
}

std::optional<Reference::Chosen> Reference::choose(const std::string& worker,
                                                   const std::string& project, Turn turn,
                                                   bool with_room) {
  const bool asks = turn == Turn::asks;
  const Ids all = candidates(worker, project, turn, with_room);
  Ids working = all;
  std::erase_if(working, [&](Id id) { return !has_work_for(worker, studies_.at(id)); });
  std::vector<const Account*> accounts;
  for (const Account& one : accounts_) {
    if (one.project == project) accounts.push_back(&one);
  }
  if (asks && !pools_[project].by_age) {
    std::vector<const Account*> waiting = accounts;
    std::ranges::stable_sort(waiting, {}, &Account::since);
    for (const Account* one : waiting) {
      if (now_ - one->since < settings_.aging_ms) break;
      if (auto chosen = choose_of(worker, *one, working, true)) {
        chosen->owner_by_age = true;
        return chosen;
      }
    }
  }
  const auto is_below = [&](const Account& one) {
    return devices_of(one.owner) < guaranteed_to(CeilingScope::researcher, one.owner);
  };
  std::ranges::stable_sort(accounts, [&](const Account* one, const Account* other) {
    return std::pair(!is_below(*one), one->served) < std::pair(!is_below(*other), other->served);
  });
  for (const Account* one : accounts) {
    auto next = choose_of(worker, *one, all, asks);
    if (!next) continue;
    next->was_next = !is_below(*one) || std::ranges::all_of(studies_, [&](const auto& other) {
      const Study& study = other.second;
      return study.options.project != project || !(has_work(study) || wants(study)) ||
             is_below(account_of(study));
    });
    // The device stays with the study whose files it has, if that costs fairness little.
    const auto last = sessions_.at(worker).last;
    const bool has_files = last && *last != next->study && std::ranges::count(working, *last) > 0;
    if (!has_files || next->study_by_age || !has_work_for(worker, studies_.at(next->study)))
      return next;
    const Account& near = account_of(studies_.at(*last));
    auto own = next;
    if (&near != one) {
      const Id lead = cost(kLocality, weight_of(CeilingScope::researcher, near.owner));
      if (is_below(*one) || near.served - one->served > lead) return next;
      own = choose_of(worker, near, all, asks);
      if (!own || own->study_by_age) return next;
    }
    const bool stays = studies_.at(*last).priority == studies_.at(own->study).priority &&
                       running_of(*last) <= running_of(own->study);
    return stays ? Chosen{.study = *last} : next;
  }
  return std::nullopt;
}

// ---- lent devices

std::optional<Reference::Chosen> Reference::choose_lent(const std::string& worker, Turn turn) {
  std::vector<std::tuple<bool, Id, std::string>> borrowers;
  for (const std::string& project : all_projects()) {
    if (!lends(sessions_.at(worker).project, project)) continue;
    const bool below =
        !lent_by_guarantee_ && devices_in(project) < guaranteed_to(CeilingScope::project, project);
    borrowers.emplace_back(!below, lent_served_[project], project);
  }
  std::ranges::sort(borrowers);
  for (const auto& [in_order, served, project] : borrowers) {
    auto chosen = choose(worker, project, turn, false);
    if (!chosen) continue;
    chosen->lent = true;
    chosen->lent_by_guarantee = !in_order;
    return chosen;
  }
  return std::nullopt;
}

std::vector<Reference::Started> Reference::lend() {
  std::vector<Started> out;
  if (leases_nothing()) return out;
  for (const auto& [key, share] : shares_) {
    if (key.first != CeilingScope::project || share.lends.empty()) continue;
    for (const std::string& worker : std::vector<std::string>(idle_)) {
      if (sessions_.at(worker).project != key.second) continue;
      if (awaiting_.contains(worker) || choose(worker, key.second, Turn::waits)) continue;
      if (const auto chosen = choose_lent(worker, Turn::waits))
        out.push_back(start_next(*chosen, worker));
    }
  }
  return out;
}

}  // namespace hyperflock::dispatch
