// Stores ask-and-tell studies: claims, the owner's trials and suggestions. See writer.h.
#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/writer.h"
#include "storage/study_ledger.h"

namespace hyperflock::storage::sqlite {
namespace {

std::int64_t record_bytes(const AskedRow& row) {
  return kAttemptRecord + std::ssize(row.params) + std::ssize(row.attrs);
}

}  // namespace

Outcome Writer::apply_one(const ClaimStudy& claim) {
  Study* study = find_study(claim.study);
  if (study == nullptr || study->row.spec.kind != protocol::StudyKind::asked)
    return of_study(Applied::conflict, claim.study);
  if (study->row.state == StudyState::cancelled) return of_study(Applied::superseded, claim.study);
  if (const auto excess = excess_of_reissue(study->row, claim.quota, 0)) {
    Outcome refused = of_study(Applied::superseded, claim.study);
    refused.excess = excess;
    return refused;
  }
  if (!ledger::is_running(study->row)) ledger::reopened(study->row);
  ledger::claimed(study->row, claim.label, now_);
  touch(*study);
  Outcome claimed = of_study(Applied::applied, claim.study);
  claimed.id = study->row.generation;
  claimed.priority = study->row.priority;
  return claimed;
}

Outcome Writer::apply_one(const AskTrials& ask) {
  Study* study = find_study(ask.study);
  if (study == nullptr) return of_study(Applied::conflict, ask.study);
  if (!ledger::is_running(study->row) || study->row.generation != ask.generation)
    return of_study(Applied::superseded, ask.study);
  Outcome asked = of_study(Applied::applied, ask.study);
  if (ask.quota.trials > 0) {
    asked.excess = excess_of_trials(ask, study->row.owner);
    if (asked.excess) {
      asked.applied = Applied::superseded;
      return asked;
    }
  }
  std::int64_t records = 0;
  for (const AskedRow& row : ask.trials) records += record_bytes(row);
  asked.excess = excess_of_records(ask.quota.bytes, owner_of(study->row.owner).records, records);
  if (asked.excess) {
    asked.applied = Applied::superseded;
    return asked;
  }
  for (const AskedRow& row : ask.trials) {
    const int inserted = db_->run(
        "INSERT OR IGNORE INTO trials (study, number, state, seq, attempts, newest_attempt, seed,"
        " started_at, finished_at, params, asked_attrs, constrained)"
        " VALUES (?, ?, ?, 0, 0, 0, ?, ?, 0, ?, ?, ?)",
        ask.study, row.number, TrialState::running, row.seed, now_, row.params, row.attrs,
        row.constrained ? Constrained::waits : Constrained::no);
    if (inserted == 0) continue;
    ledger::trial_asked(study->row);
    charge_records(*study, record_bytes(row));
    asked.trials.push_back(row.number);
  }
  if (ask.wanted) study->row.wanted = *ask.wanted;
  touch(*study);
  return asked;
}

std::optional<Excess> Writer::excess_of_trials(const AskTrials& ask, const std::string& owner) {
  write_changed_studies();  // including trials asked earlier in this batch
  return excess_of({.trials = ask.quota.trials}, used_by(owner), {0, std::ssize(ask.trials), 0});
}

Outcome Writer::apply_one(const StoreSuggestion& store) {
  Outcome result;
  result.trial = store.trial;
  {
    Query trial = db_->query("SELECT state FROM trials WHERE study = ? AND number = ?",
                             store.trial.study, store.trial.number);
    const Study* study = find_study(store.trial.study);
    if (!trial.next() || study == nullptr) {
      result.applied = Applied::conflict;
      return result;
    }
    const bool current = study->row.generation == store.generation;
    if (!current || static_cast<TrialState>(trial.integer(0)) != TrialState::running) {
      result.applied = Applied::superseded;
      return result;
    }
  }
  const Suggestion& one = store.suggestion;
  const int inserted = db_->run(
      "INSERT OR IGNORE INTO suggestions (study, number, name, position, distribution, value)"
      " VALUES (?, ?, ?, ?, ?, ?)",
      store.trial.study, store.trial.number, one.name, store.position, one.distribution, one.value);
  if (inserted == 0) {
    result.applied = Applied::repeated;
    return result;
  }
  charge_records(
      *find_study(store.trial.study),
      kSmallRecord + static_cast<std::int64_t>(one.distribution.size() + one.value.size()));
  db_->run("UPDATE trials SET params = ? WHERE study = ? AND number = ?", store.params,
           store.trial.study, store.trial.number);
  return result;
}

}  // namespace hyperflock::storage::sqlite
