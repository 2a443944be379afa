// Study and trial rows of rest.md as JSON text. Used by REST and by the updates of a watch. Pure;
// any thread.
#pragma once

#include <string>

#include "storage/records.h"

namespace hyperflock::http {

enum class Detail { row, curve, full };  // curve: with points; full: with attempts_list too
enum class Sampler { away, attached };   // whether the owner of an asked study is connected

std::string study_row_json(const storage::StudyRow& row, Sampler sampler = Sampler::away);
std::string trial_row_json(const storage::TrialDetail& detail, Detail amount = Detail::row);

}  // namespace hyperflock::http
