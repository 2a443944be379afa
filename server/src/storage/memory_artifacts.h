// Artifacts over a plain map: the in-memory back end's part for what transition.h says of them.
// Used under its locks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/storage.h"

namespace hyperflock::storage {

class MemoryArtifacts {
 public:
  // Why the artifact is not taken: Outcome::applied and Outcome::refusal of what is against it;
  // nothing where the study has no such id and the attempt has room.
  std::optional<Outcome> objection(StudyId study, const ArtifactRow& artifact) const;
  // REQUIRES: no objection. `artifact.arrived` is its place.
  void add(ArtifactRow artifact);
  // Gives an attempt those of others that arrived up to each one's place.
  void pass_on(StudyId study, const std::map<AttemptId, std::int64_t>& places, AttemptId to);
  // Removes those of the study that are to go, and counts them off its row. Gives their blobs.
  std::set<std::string> drop(StudyRow& study,
                             const std::function<bool(const ArtifactRow&)>& is_to_go);

  std::vector<ArtifactRow> page(StudyId study, std::optional<TrialNumber> trial, std::int64_t after,
                                std::int64_t limit) const;
  std::optional<ArtifactRow> find(StudyId study, const std::string& id) const;
  std::set<std::string> blobs() const;

 private:
  std::map<std::pair<StudyId, std::int64_t>, ArtifactRow> rows_;  // by study and place
};

}  // namespace hyperflock::storage
