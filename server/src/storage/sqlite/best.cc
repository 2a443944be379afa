// Keeps the best trials of studies (R57). If a study has one direction, its progress row names the
// best trial. If it has several, `best_trials` has a row for each trial that no other one beats.
// See writer.h.
#include "storage/best.h"

#include <algorithm>
#include <utility>

#include "protocol/codec.h"
#include "protocol/trial_attrs.h"
#include "storage/sqlite/best.h"
#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/writer.h"

namespace hyperflock::storage::sqlite {
namespace {

constexpr Sql kAddBest = "INSERT INTO best_trials (study, number, result_values) VALUES (?, ?, ?)";

std::vector<protocol::Direction> directions_of(Connection& db, StudyId id) {
  Query row = db.query("SELECT spec FROM studies WHERE id = ?", id);
  row.next();
  auto spec = protocol::parse_study_spec(row.text(0));
  return spec ? std::move(spec).value().directions : std::vector<protocol::Direction>();
}

bool are_met(const std::vector<double>& constraints) {
  return std::ranges::all_of(constraints, [](double value) { return value <= 0; });
}

// Computes the best trials of a study from all of its results. With one direction it stores the
// best trial in `study`; with several it returns the trials that no other trial beats.
std::vector<Candidate> best_of(Connection& db, StudyRow& study) {
  study.best_trial.reset();
  study.best_value = 0;
  std::vector<Candidate> front;
  std::vector<TrialNumber> beaten;
  Query row = db.query(
      "SELECT t.number, a.result_values, a.attrs, t.constraints FROM trials AS t"
      " JOIN attempts AS a ON a.id = t.accepted_attempt"
      " WHERE t.study = ? AND t.state = ? AND t.constrained <> ?",
      study.id, TrialState::complete, Constrained::waits);
  while (row.next()) {
    if (!are_met(doubles_of(row.text(3))) || !protocol::meets_constraints(row.text(2))) continue;
    Candidate one{TrialNumber{row.integer(0)}, doubles_of(row.text(1))};
    if (study.spec.directions.size() <= 1) {
      offer_best(study, one);
    } else if (one.values.size() == study.spec.directions.size()) {
      offer_to_front(front, study.spec.directions, std::move(one), beaten);
    }
  }
  return front;
}

void store_front(Connection& db, StudyId id, const std::vector<Candidate>& front) {
  db.run("DELETE FROM best_trials WHERE study = ?", id);
  for (const Candidate& one : front) db.run(kAddBest, id, one.number, as_blob(one.values));
}

// Returns every study with its spec.
std::vector<StudyRow> studies_with_specs(Connection& db) {
  std::vector<StudyRow> studies;
  Query row = db.query("SELECT id, spec FROM studies JOIN study_progress ON study = id");
  while (row.next()) {
    auto spec = protocol::parse_study_spec(row.text(1));
    if (!spec) continue;
    StudyRow& study = studies.emplace_back();
    study.id = StudyId{row.integer(0)};
    study.spec = std::move(spec).value();
  }
  return studies;
}

std::vector<TrialNumber> numbers_of(const std::vector<Candidate>& front) {
  std::vector<TrialNumber> numbers;
  for (const Candidate& one : front) numbers.push_back(one.number);
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

std::vector<Candidate>& Writer::front_of(Study& study) {
  if (study.front) return *study.front;
  study.row.spec.directions = directions_of(*db_, study.row.id);
  std::vector<Candidate>& front = study.front.emplace();
  Query row =
      db_->query("SELECT number, result_values FROM best_trials WHERE study = ?", study.row.id);
  while (row.next()) front.push_back({TrialNumber{row.integer(0)}, doubles_of(row.text(1))});
  return front;
}

void Writer::offer(Study& study, Candidate one) {
  const StudyId id = study.row.id;
  if (study.row.spec.directions.size() <= 1) {
    if (offer_best(study.row, one)) touch(study);
    return;
  }
  std::vector<Candidate>& front = front_of(study);
  if (one.values.size() != study.row.spec.directions.size()) return;
  std::vector<TrialNumber> beaten;
  if (!offer_to_front(front, study.row.spec.directions, one, beaten)) return;
  for (const TrialNumber number : beaten)
    db_->run("DELETE FROM best_trials WHERE study = ? AND number = ?", id, number);
  db_->run(kAddBest, id, one.number, as_blob(one.values));
}

void Writer::find_best(Study& study) {
  front_of(study);  // reads the directions
  study.front = best_of(*db_, study.row);
  store_front(*db_, study.row.id, *study.front);
  touch(study);
}

Outcome Writer::apply_one(const StoreConstraints& store) {
  Outcome result;
  result.trial = store.trial;
  result.applied = Applied::conflict;
  Study* study = find_study(store.trial.study);
  if (study == nullptr) return result;
  bool complete = false;
  auto was = Constrained::no;
  Candidate one{store.trial.number, {}};
  bool meets = are_met(store.values);
  {
    Query trial = db_->query(
        "SELECT t.state, t.constrained, a.result_values, a.attrs FROM trials AS t"
        " LEFT JOIN attempts AS a ON a.id = t.accepted_attempt"
        " WHERE t.study = ? AND t.number = ?",
        store.trial.study, store.trial.number);
    if (!trial.next()) return result;
    result.applied = Applied::superseded;
    if (study->row.generation != store.generation) return result;
    result.applied = Applied::repeated;
    was = static_cast<Constrained>(trial.integer(1));
    if (was == Constrained::judged || trial.null(2)) return result;
    complete = static_cast<TrialState>(trial.integer(0)) == TrialState::complete;
    one.values = doubles_of(trial.text(2));
    meets = meets && protocol::meets_constraints(trial.text(3));
  }
  db_->run("UPDATE trials SET constrained = ?, constraints = ? WHERE study = ? AND number = ?",
           Constrained::judged, as_blob(store.values), store.trial.study, store.trial.number);
  if (complete && was == Constrained::waits && meets) offer(*study, std::move(one));
  // The trial does not meet its constraints. Until now it could be one of the best, because the
  // owner had not announced that there are constraints.
  if (complete && was == Constrained::no && !meets) find_best(*study);
  result.applied = Applied::applied;
  return result;
}

void find_best_trials(Connection& db) {
  for (StudyRow& study : studies_with_specs(db)) {
    store_front(db, study.id, best_of(db, study));
    db.run("UPDATE study_progress SET best_trial = ?, best_value = ? WHERE study = ?",
           study.best_trial, study.best_value, study.id);
  }
}

std::vector<StudyId> studies_with_wrong_best(Connection& db) {
  std::vector<StudyId> wrong;
  for (StudyRow& study : studies_with_specs(db)) {
    const auto front = numbers_of(best_of(db, study));
    std::vector<TrialNumber> kept;
    {
      Query row =
          db.query("SELECT number FROM best_trials WHERE study = ? ORDER BY number", study.id);
      while (row.next()) kept.push_back(TrialNumber{row.integer(0)});
    }
    Query row =
        db.query("SELECT best_trial, best_value FROM study_progress WHERE study = ?", study.id);
    row.next();
    const auto trial = study.best_trial ? std::optional(to_int(*study.best_trial)) : std::nullopt;
    if (kept != front || row.maybe_integer(0) != trial || row.real(1) != study.best_value)
      wrong.push_back(study.id);
  }
  return wrong;
}

}  // namespace hyperflock::storage::sqlite
