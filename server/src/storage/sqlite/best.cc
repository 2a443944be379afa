// Keeps the best trials of studies (R57). If a study has one direction, its progress row names the
// best trial. If it has several, `best_trials` has a row for each trial that no other one beats. A
// trial that is taken back makes SearchBest look at all trials again, in pieces. See writer.h.
#include "storage/best.h"

#include <algorithm>
#include <utility>

#include "protocol/codec.h"
#include "protocol/trial_attrs.h"
#include "storage/sqlite/best.h"
#include "storage/sqlite/contribution/contribution.h"
#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/writer.h"

namespace hyperflock::storage::sqlite {
namespace {

// SearchBest looks at no more trials after it has read this many bytes of attributes, or compared
// this many pairs of trials.
constexpr std::size_t kSearchedBytes = std::size_t{1} << 20;
constexpr std::size_t kSearchedPairs = 1'000'000;

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

// Computes the best trials of a study from all of its results at once, for a database that is not
// in use. With one direction it stores the best trial in `study`; with several it returns the
// trials that no other trial beats.
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

// Returns every study whose best trials are known, with its spec.
std::vector<StudyRow> studies_with_specs(Connection& db) {
  std::vector<StudyRow> studies;
  Query row = db.query(
      "SELECT id, spec FROM studies JOIN study_progress ON study = id WHERE search_from IS NULL");
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

bool Writer::offer(Study& study, Candidate one) {
  const StudyId id = study.row.id;
  if (study.row.spec.directions.size() <= 1) {
    const auto before = study.row.best_trial;
    const bool moved = moves_best(study.row, one);
    if (study.row.best_trial != before) touch(study);
    return moved;
  }
  std::vector<Candidate>& front = front_of(study);
  if (one.values.size() != study.row.spec.directions.size()) return false;
  // A search may find a trial that is one of the best already.
  if (study.row.search_from &&
      std::ranges::find(front, one.number, &Candidate::number) != front.end())
    return false;
  std::vector<TrialNumber> beaten;
  const bool moved = is_new_in(front, one);
  if (!offer_to_front(front, study.row.spec.directions, one, beaten)) return false;
  for (const TrialNumber number : beaten)
    db_->run("DELETE FROM best_trials WHERE study = ? AND number = ?", id, number);
  db_->run(kAddBest, id, one.number, as_blob(one.values));
  return moved;
}

bool Writer::take_back(Study& study, TrialNumber number) {
  if (study.row.spec.directions.size() > 1) {
    const auto is_it = [number](const Candidate& one) { return one.number == number; };
    if (std::erase_if(front_of(study), is_it) == 0) return false;
    db_->run("DELETE FROM best_trials WHERE study = ? AND number = ?", study.row.id, number);
  } else {
    if (study.row.best_trial != number) return false;
    study.row.best_trial.reset();
    study.row.best_value = 0;
  }
  study.row.search_from = TrialNumber{0};
  touch(study);
  return true;
}

Writer::Searched Writer::next_candidates(const Study& study, std::int64_t most) {
  Searched searched;
  std::int64_t seen = 0;
  std::size_t bytes = 0;
  TrialNumber last{};
  {
    Query row = db_->query(
        "SELECT t.number, t.state, t.constrained, t.constraints, a.result_values, a.attrs"
        " FROM trials AS t LEFT JOIN attempts AS a ON a.id = t.accepted_attempt"
        " WHERE t.study = ? AND t.number >= ? ORDER BY t.number LIMIT ?",
        study.row.id, *study.row.search_from, most);
    while (bytes < kSearchedBytes && row.next()) {
      ++seen;
      last = TrialNumber{row.integer(0)};
      const auto state = static_cast<TrialState>(row.integer(1));
      const auto constrained = static_cast<Constrained>(row.integer(2));
      if (state != TrialState::complete || constrained == Constrained::waits) continue;
      bytes += row.text(5).size();
      if (!are_met(doubles_of(row.text(3))) || !protocol::meets_constraints(row.text(5))) continue;
      searched.found.push_back({last, doubles_of(row.text(4))});
    }
  }
  const bool ended = seen < most && bytes < kSearchedBytes;
  if (!ended) searched.next = TrialNumber{to_int(last) + 1};
  return searched;
}

Outcome Writer::apply_one(const SearchBest& search) {
  Outcome outcome;
  outcome.applied = Applied::repeated;
  write_changed_studies();  // so that the next query finds what this batch has changed
  {
    Query row =
        db_->query("SELECT study FROM study_progress WHERE search_from IS NOT NULL LIMIT 1");
    if (!row.next()) return outcome;
    outcome.study = StudyId{row.integer(0)};
  }
  Study* study = find_study(*outcome.study);
  Searched searched = next_candidates(*study, std::max<std::int64_t>(search.trials, 1));
  std::size_t pairs = 0;
  for (Candidate& one : searched.found) {
    const TrialNumber number = one.number;
    offer(*study, std::move(one));
    pairs += study->front ? study->front->size() : 1;
    if (pairs < kSearchedPairs || number == searched.found.back().number) continue;
    searched.next = TrialNumber{to_int(number) + 1};
    break;
  }
  study->row.search_from = searched.next;
  touch(*study);
  outcome.applied = Applied::applied;
  return outcome;
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
  if (complete && was == Constrained::waits && meets && offer(*study, std::move(one)))
    set_moved(*db_, store.trial, true);
  // The trial does not meet its constraints. Until now it could be one of the best, because the
  // owner had not announced that there are constraints.
  if (complete && was == Constrained::no && !meets) {
    result.searches = take_back(*study, store.trial.number);
    set_moved(*db_, store.trial, false);
  }
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
