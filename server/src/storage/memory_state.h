// What the in-memory back end keeps, as plain maps. Used under its locks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/memory_artifacts.h"
#include "storage/memory_identity.h"
#include "storage/storage.h"

namespace hyperflock::storage::memory {

struct Attempt {
  AttemptRow row;
  std::int64_t from_artifacts = 0;  // that its study had had when what it began with was saved
  std::optional<protocol::Verdict> verdict;  // of its first result
  std::map<std::int64_t, double> points;     // by step
};

struct Saved {
  protocol::Checkpoint checkpoint;
  std::int64_t artifacts = 0;  // that its study had had by then
};

struct Trial {
  TrialRow row;  // values are filled in when read
  std::vector<AttemptId> attempts;
  std::size_t forgiven = 0;        // how many of them came before the last replay
  std::vector<Saved> checkpoints;  // oldest first
  std::string attrs{};             // that it was asked with
};

struct State {
  std::map<StudyId, StudyRow> studies;
  std::map<TrialKey, Trial> trials;
  std::map<AttemptId, Attempt> attempts;
  std::map<std::pair<StudyId, std::int64_t>, TrialKey> finished;  // by (study, seq)
  std::set<std::pair<std::string, std::string>> project_blobs;
  MemoryArtifacts artifacts;
  IdentityState identity;
  std::int64_t last_seq = 0;
  // The highest ids when a study was deleted last: they are not given again.
  std::int64_t last_study = 0;
  std::int64_t last_attempt = 0;
};

template <typename Map, typename Key>
auto* find(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace hyperflock::storage::memory
