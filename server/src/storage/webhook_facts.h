// Writes the JSON about a study that is posted to its webhook. Every back end uses this function.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "protocol/json/json_writer.h"
#include "protocol/names.h"
#include "protocol/study_spec.h"
#include "storage/best.h"
#include "storage/records.h"
#include "storage/state_names.h"

namespace hyperflock::storage {

// `best_trials` has at most this many trials.
inline constexpr std::size_t kFrontOfFacts = 100;

// Returns the facts of a study. `front` are the best trials of a study with several directions.
inline std::string webhook_facts(const StudyRow& row, const std::vector<Candidate>& front) {
  using protocol::append_list;
  using protocol::ObjectWriter;
  const protocol::StudySpec& spec = row.spec;
  const bool asked = spec.kind == protocol::StudyKind::asked;
  std::string out;
  ObjectWriter study(out);
  study.integer("study", to_int(row.id))
      .text("name", spec.name)
      .text("owner", row.owner)
      .text("project", row.project)
      .text("state", protocol::name_of(row.state));
  if (row.paused) study.boolean("paused", true);
  append_list(study.begin("directions"),
              spec.directions.empty() ? std::vector{spec.direction} : spec.directions,
              [&out](protocol::Direction one) { protocol::append_string(out, name_of(one)); });
  study.integer("total", row.total)
      .integer("complete", row.complete)
      .integer("pruned", row.pruned)
      .integer("failed", row.failed)
      .integer("running", row.running)
      .integer("created_at", row.created_at);
  if (row.finished_at != 0) study.integer("finished_at", row.finished_at);
  if (row.stopped_by && row.stop_failure) {
    ObjectWriter stop(study.begin("stopped_by"));
    stop.integer("trial", to_int(*row.stopped_by)).integer("failures", spec.max_failures);
    // A traceback is not sent, because it may show data.
    ObjectWriter(stop.begin("error"))
        .text("cause", name_of(row.stop_failure->cause))
        .text("code", row.stop_failure->code)
        .text("message", row.stop_failure->message)
        .end();
    stop.end();
  }
  if (row.best_trial) {
    const std::int64_t number = to_int(*row.best_trial);
    ObjectWriter(study.begin("best"))
        .integer("trial", number)
        .number("value", row.best_value)
        .raw("params", asked ? row.best_params : protocol::trial_params(spec, number))
        .end();
  }
  if (!front.empty()) {
    append_list(study.begin("best_trials"), front, [&out](const Candidate& one) {
      ObjectWriter trial(out);
      trial.integer("trial", to_int(one.number));
      append_list(trial.begin("values"), one.values,
                  [&out](double value) { protocol::append_float(out, value); });
      trial.end();
    });
  }
  study.end();
  return out;
}

}  // namespace hyperflock::storage
