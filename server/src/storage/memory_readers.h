// The reading half of the contract over plain maps. Used under the in-memory back end's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/memory_state.h"
#include "storage/storage.h"

namespace hyperflock::storage::memory {

Snapshot load(const State& state);
Identities identities(const State& state);
std::vector<StudyRow> studies(const State& state);
std::optional<StudyRow> study(const State& state, StudyId id);
std::vector<TrialDetail> finished_trials(const State& state, StudyId id, std::int64_t after,
                                         std::int64_t limit);
std::vector<TrialDetail> unfinished_trials(const State& state, StudyId id);
std::optional<TrialDetail> trial(const State& state, TrialKey key);
std::vector<protocol::Point> curve(const State& state, const AttemptRow& row);
std::optional<AttemptRow> attempt(const State& state, AttemptId id);
std::set<std::string> kept_blobs(const State& state);
std::set<std::string> owned_blobs(const State& state);
Usage usage(const State& state, const std::string& owner);

}  // namespace hyperflock::storage::memory
