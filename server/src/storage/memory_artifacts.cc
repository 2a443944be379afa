// See memory_artifacts.h.
#include "storage/memory_artifacts.h"

#include "storage/study_ledger.h"

namespace hyperflock::storage {

std::optional<Outcome> MemoryArtifacts::objection(StudyId study,
                                                  const ArtifactRow& artifact) const {
  Outcome outcome;
  outcome.applied = Applied::superseded;
  if (const auto same = find(study, artifact.id)) {
    if (same->attempt == artifact.attempt && same->blob.sha256 == artifact.blob.sha256) {
      outcome.applied = Applied::repeated;
    } else {
      outcome.refusal = Refusal::artifact_exists;
    }
    return outcome;
  }
  std::int64_t earlier = 0;
  std::int64_t bytes = artifact.blob.bytes;
  for (auto row = rows_.lower_bound({study, 0}); row != rows_.end() && row->first.first == study;
       ++row) {
    if (row->second.attempt != artifact.attempt) continue;
    ++earlier;
    bytes += row->second.blob.bytes;
  }
  if (earlier < kMostArtifacts && bytes <= kMostArtifactBytes) return std::nullopt;
  outcome.refusal = Refusal::artifact_count;
  return outcome;
}

void MemoryArtifacts::add(ArtifactRow artifact) {
  const std::pair place(artifact.trial.study, artifact.arrived);
  rows_.emplace(place, std::move(artifact));
}

void MemoryArtifacts::pass_on(StudyId study, const std::map<AttemptId, std::int64_t>& places,
                              AttemptId to) {
  if (places.empty()) return;
  for (auto row = rows_.lower_bound({study, 0}); row != rows_.end() && row->first.first == study;
       ++row) {
    const auto place = places.find(row->second.attempt);
    if (place != places.end() && row->second.arrived <= place->second) row->second.attempt = to;
  }
}

std::set<std::string> MemoryArtifacts::drop(
    StudyRow& study, const std::function<bool(const ArtifactRow&)>& is_to_go) {
  std::set<std::string> blobs;
  for (auto row = rows_.lower_bound({study.id, 0});
       row != rows_.end() && row->first.first == study.id;) {
    if (is_to_go(row->second)) {
      blobs.insert(row->second.blob.sha256);
      ledger::artifact_dropped(study, row->second.blob.bytes);
      row = rows_.erase(row);
    } else {
      ++row;
    }
  }
  return blobs;
}

std::vector<ArtifactRow> MemoryArtifacts::page(StudyId study, std::optional<TrialNumber> trial,
                                               std::int64_t after, std::int64_t limit) const {
  std::vector<ArtifactRow> page;
  for (auto row = rows_.upper_bound({study, after});
       row != rows_.end() && row->first.first == study &&
       static_cast<std::int64_t>(page.size()) < limit;
       ++row) {
    if (!trial || row->second.trial.number == *trial) page.push_back(row->second);
  }
  return page;
}

std::optional<ArtifactRow> MemoryArtifacts::find(StudyId study, const std::string& id) const {
  for (auto row = rows_.lower_bound({study, 0}); row != rows_.end() && row->first.first == study;
       ++row) {
    if (row->second.id == id) return row->second;
  }
  return std::nullopt;
}

std::set<std::string> MemoryArtifacts::blobs() const {
  std::set<std::string> blobs;
  for (const auto& [place, row] : rows_) blobs.insert(row.blob.sha256);
  return blobs;
}

}  // namespace hyperflock::storage
