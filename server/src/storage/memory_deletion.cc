// See memory_deletion.h.
#include "storage/memory_deletion.h"

#include <algorithm>

#include "storage/memory_readers.h"
#include "storage/study_ledger.h"

namespace hyperflock::storage::memory {
namespace {

std::set<std::string> blobs_of(const StudyRow& study) {
  std::set<std::string> blobs{study.spec.bundle.sha256};
  for (const protocol::DataRef& data : study.spec.data) blobs.insert(data.blob.sha256);
  return blobs;
}

// Whether a study with this owner, or in this project, names the blob.
bool is_named(const State& state, std::string StudyRow::* whose, const std::string& name,
              const std::string& blob) {
  return std::ranges::any_of(state.studies, [&](const auto& one) {
    return one.second.*whose == name && blobs_of(one.second).contains(blob);
  });
}

// REQUIRES: the study is not among the state's any more.
void disown_blobs(State& state, const StudyRow& study, Outcome& outcome) {
  auto& owned = state.identity.owner_blobs;
  for (const std::string& blob : blobs_of(study)) {
    if (!is_named(state, &StudyRow::project, study.project, blob))
      state.project_blobs.erase({study.project, blob});
    const auto own = owned.find({study.owner, blob});
    if (own == owned.end() || is_named(state, &StudyRow::owner, study.owner, blob)) continue;
    outcome.freed->bytes += own->second;
    owned.erase(own);
    const bool kept =
        std::ranges::any_of(owned, [&](const auto& one) { return one.first.second == blob; });
    if (!kept) outcome.disowned.push_back(blob);
  }
}

}  // namespace

Outcome delete_study(State& state, StudyId id) {
  Outcome outcome;
  outcome.study = id;
  const auto found = state.studies.find(id);
  if (found == state.studies.end()) {
    outcome.applied = Applied::conflict;
    return outcome;
  }
  StudyRow study = found->second;
  if (ledger::is_running(study)) {
    outcome.applied = Applied::superseded;
    return outcome;
  }
  state.last_study = std::max(state.last_study, to_int(state.studies.rbegin()->first));
  if (!state.attempts.empty())
    state.last_attempt = std::max(state.last_attempt, to_int(state.attempts.rbegin()->first));

  outcome.freed = Freed{study.complete + study.pruned + study.failed, 0, study.artifact_bytes};
  std::set<std::string> dropped = state.artifacts.drop(study, [&](const ArtifactRow&) {
    ++outcome.freed->artifacts;
    return true;
  });
  const auto first = state.trials.lower_bound({id, TrialNumber{0}});
  auto last = first;
  for (; last != state.trials.end() && last->first.study == id; ++last) {
    state.finished.erase({id, last->second.row.seq});
    for (const AttemptId attempt : last->second.attempts) state.attempts.erase(attempt);
  }
  state.trials.erase(first, last);
  state.studies.erase(found);
  disown_blobs(state, study, outcome);
  for (const std::string& blob : kept_blobs(state)) dropped.erase(blob);
  outcome.dropped.assign(dropped.begin(), dropped.end());
  return outcome;
}

}  // namespace hyperflock::storage::memory
