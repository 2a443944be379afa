// What DeleteStudy does to plain maps: everything of the study goes at once. Used under the
// in-memory back end's lock.
#pragma once

#include "storage/memory_state.h"

namespace hyperflock::storage::memory {

Outcome delete_study(State& state, StudyId id);

}  // namespace hyperflock::storage::memory
