#include "http/console/rows.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "protocol/codec.h"
#include "protocol/json/json_writer.h"
#include "protocol/names.h"
#include "protocol/trial_attrs.h"
#include "storage/state_names.h"
#include "webhook/url.h"

namespace hyperflock::http {
namespace {

using protocol::append_float;
using protocol::append_integer;
using protocol::append_list;
using protocol::append_string;
using protocol::name_of;
using protocol::ObjectWriter;

// If a study's points are given one by one, each name has as many values as the study has trials.
// So the row of such a study always has only the names.
void append_space(std::string& out, const protocol::StudySpec& spec, Space amount) {
  if (spec.kind != protocol::StudyKind::points && amount == Space::whole)
    return protocol::append_space(out, spec.space);
  append_list(out, spec.space, [&out](const protocol::Dimension& dimension) {
    ObjectWriter(out).raw("name", dimension.name_json).raw("values", "[]").end();
  });
}

void append_values(std::string& out, const std::vector<double>& values) {
  append_list(out, values, [&out](double value) { append_float(out, value); });
}

void append_failure(std::string& out, const protocol::Failure& failure) {
  ObjectWriter(out)
      .text("cause", name_of(failure.cause))
      .text("code", failure.code)
      .text("message", failure.message)
      .text("traceback", failure.traceback)
      .end();
}

void append_device(std::string& out, const storage::AttemptRow& attempt) {
  ObjectWriter device(out);
  device.text("device", attempt.device)
      .text("class", attempt.device_class)
      .text("engine", attempt.engine)
      .text("backend", attempt.backend);
  // The graphics adapter is shown only if the attempt used it.
  const bool has_used = attempt.backend == "webgpu" || attempt.backend == "webgl2";
  if (has_used && !attempt.adapter.empty()) device.text("adapter", attempt.adapter);
  device.end();
}

void append_attempt(std::string& out, const storage::AttemptRow& attempt) {
  ObjectWriter row(out);
  row.integer("attempt", to_int(attempt.id))
      .text("kind", name_of(attempt.kind))
      .text("state", name_of(attempt.state));
  if (attempt.from) row.integer("resumed_from", to_int(attempt.from->attempt));
  if (attempt.from && attempt.from->step) row.integer("resumed_step", *attempt.from->step);
  append_device(row.begin("device"), attempt);
  append_values(row.begin("values"), attempt.values);
  row.integer("started_at", attempt.started_at)
      .integer("finished_at", attempt.finished_at)
      .integer("run_ms", attempt.metrics.run_ms)
      .integer("load_ms", attempt.metrics.load_ms);
  if (!attempt.software.empty()) row.text("software", attempt.software);
  row.integer("code_version", attempt.code);
  if (attempt.failure) append_failure(row.begin("error"), *attempt.failure);
  if (attempt.rejection) {
    ObjectWriter rejection(row.begin("rejected"));
    rejection.text("by", attempt.rejection->by).integer("at", attempt.rejection->at);
    if (!attempt.rejection->reason.empty()) rejection.text("reason", attempt.rejection->reason);
    if (attempt.rejection->inherited) rejection.boolean("inherited", true);
    rejection.end();
  }
  row.end();
}

void append_suggested(std::string& out, const std::vector<storage::Suggestion>& log) {
  append_list(out, log, [&out](const storage::Suggestion& one) {
    append_list(out, std::array<std::string_view, 3>{one.name, one.distribution, one.value},
                [&out](std::string_view text) { append_string(out, text); });
  });
}

void append_last(std::string& out, const std::vector<storage::LastValue>& last) {
  append_list(out, last, [&out](const storage::LastValue& one) {
    out += '[';
    append_string(out, one.name);
    out += ',';
    protocol::append_logged(out, one.value);
    out += ']';
  });
}

// Appends the fields that only the row of an ask-and-tell study has.
void append_asked(ObjectWriter& study, const storage::StudyRow& row, Sampler sampler) {
  std::string& out = study.begin("directions");
  append_list(out, row.spec.directions,
              [&out](protocol::Direction one) { append_string(out, name_of(one)); });
  study.integer("wanted", row.wanted);
  if (row.generation == 0) return;  // no owner has claimed it yet
  ObjectWriter(study.begin("sampler"))
      .integer("generation", row.generation)
      .boolean("attached", sampler == Sampler::attached)
      .text("label", row.sampler)
      .integer("since", row.sampler_since)
      .end();
}

// Appends how long the study will still take (R63), or why that is not known.
void append_estimate(std::string& out, const storage::StudyRow& row,
                     const dispatch::Estimate& estimate, bool is_held) {
  const bool counts = open_trials(row).has_value();
  ObjectWriter body(out);
  body.integer("runs", estimate.runs).integer("devices", estimate.devices);
  if (counts && estimate.device_ms) body.integer("device_ms", *estimate.device_ms);
  if (is_held) {
    body.text("why", "held");
  } else if (row.paused) {
    body.text("why", "paused");
  } else if (!counts) {
    body.text("why", "no_total");
  } else if (estimate.runs == 0) {
    body.text("why", "no_run");
  } else if (!estimate.left_ms) {
    body.text("why", "no_device");
  } else {
    body.integer("left_ms", *estimate.left_ms);
  }
  body.end();
}

void append_delivery(std::string& out, const storage::Delivery& delivery) {
  ObjectWriter row(out);
  row.text("event", name_of(delivery.event))
      .integer("at", delivery.created_at)
      .text("state", name_of(delivery.state))
      .integer("attempts", delivery.attempts);
  if (delivery.state == storage::DeliveryState::waiting) row.integer("next_at", delivery.next_at);
  if (delivery.status != 0) row.integer("status", delivery.status);
  if (!delivery.code.empty()) row.text("code", delivery.code).text("message", delivery.message);
  row.end();
}

void append_webhook(std::string& out, const storage::StudyWebhook& hook) {
  const auto url = webhook::parse_url(hook.webhook.url);
  ObjectWriter row(out);
  row.text("host", url ? url->host_and_port() : std::string());
  append_list(row.begin("events"), hook.webhook.events,
              [&out](protocol::WebhookEvent event) { append_string(out, name_of(event)); });
  if (hook.last) append_delivery(row.begin("last"), *hook.last);
  row.end();
}

// Returns whether a complete trial meets its constraints; true for any other trial.
bool is_feasible(const storage::TrialDetail& detail) {
  const storage::TrialRow& row = detail.trial;
  if (row.state != storage::TrialState::complete) return true;
  if (row.constraints &&
      !std::ranges::all_of(*row.constraints, [](double value) { return value <= 0; })) {
    return false;
  }
  return !detail.attempt || protocol::meets_constraints(detail.attempt->attrs);
}

}  // namespace

std::optional<std::int64_t> open_trials(const storage::StudyRow& row) {
  if (row.spec.kind == protocol::StudyKind::asked && row.wanted == 0) return std::nullopt;
  const std::int64_t goal = std::max(row.total, row.wanted);
  return std::max<std::int64_t>(goal - row.complete - row.pruned - row.failed, 0);
}

Held held_of(const storage::StudyRow& row, const storage::Stop& stop) {
  if (row.approval == storage::Approval::refused) return {"approval_refused", row.refusal};
  if (row.state != storage::StudyState::running) return {};
  switch (stop.code) {
    case storage::Stop::Code::owner_suspended:
      return {"owner_suspended", stop.reason};
    case storage::Stop::Code::project_frozen:
      return {"project_frozen", stop.reason};
    case storage::Stop::Code::bundle_barred:
      return {"bundle_barred", stop.reason};
    case storage::Stop::Code::none:
      break;
  }
  if (row.approval == storage::Approval::awaited) return {"approval_pending", {}};
  return {};
}

std::string study_row_json(const storage::StudyRow& row, Sampler sampler,
                           const dispatch::Estimate& estimate, const Held& held, Space space) {
  std::string out;
  out.reserve(1024);
  ObjectWriter study(out);
  study.integer("study", to_int(row.id))
      .text("name", row.spec.name)
      .text("owner", row.owner)
      .text("project", row.project)
      .text("state", name_of(row.state));
  if (row.paused) study.boolean("paused", true);
  if (row.priority != 0) study.integer("priority", row.priority);
  if (row.stopped_by && row.stop_failure) {
    ObjectWriter stop(study.begin("stopped_by"));
    stop.integer("trial", to_int(*row.stopped_by)).integer("failures", row.spec.max_failures);
    append_failure(stop.begin("error"), *row.stop_failure);
    stop.end();
  }
  if (!held.code.empty()) {
    ObjectWriter why(study.begin("held"));
    why.text("code", held.code);
    if (!held.reason.empty()) why.text("reason", held.reason);
    why.end();
  }
  study.text("direction", name_of(row.spec.direction))
      .integer("total", row.total)
      .integer("complete", row.complete)
      .integer("pruned", row.pruned)
      .integer("failed", row.failed)
      .integer("running", row.running)
      .integer("attempts", row.attempts)
      .integer("cursor", row.cursor)
      .text("entry", row.spec.entry)
      .integer("seed", row.spec.seed)
      .integer("created_at", row.created_at);
  if (row.finished_at != 0) study.integer("finished_at", row.finished_at);
  append_space(study.begin("space"), row.spec, space);
  protocol::append_runtime(study.begin("runtime"), row.spec.chainer, row.spec.backend);
  if (row.spec.requires_device != protocol::Requirements{})
    protocol::append_requirements(study.begin("requires"), row.spec.requires_device);
  ObjectWriter(study.begin("bundle"))
      .text("sha256", row.spec.bundle.sha256)
      .integer("bytes", row.spec.bundle.bytes)
      .end();
  if (row.code > 1) study.integer("code_version", row.code);
  if (row.spec.kind != protocol::StudyKind::grid) study.text("kind", name_of(row.spec.kind));
  const bool asked = row.spec.kind == protocol::StudyKind::asked;
  if (row.best_trial) {
    const std::int64_t number = to_int(*row.best_trial);
    ObjectWriter(study.begin("best"))
        .integer("trial", number)
        .number("value", row.best_value)
        .text("params", asked ? row.best_params : protocol::trial_params(row.spec, number))
        .end();
  }
  if (!row.best_trials.empty()) {
    std::string& numbers = study.begin("best_trials");
    append_list(numbers, row.best_trials,
                [&numbers](TrialNumber number) { append_integer(numbers, to_int(number)); });
  }
  if (row.search_from) study.boolean("best_pending", true);
  if (asked) append_asked(study, row, sampler);
  if (!row.spec.value_range.empty()) {
    std::string& ranges = study.begin("value_range");
    append_list(ranges, row.spec.value_range, [&ranges](const protocol::Bounds& one) {
      ObjectWriter range(ranges);
      if (one.low) range.number("low", *one.low);
      if (one.high) range.number("high", *one.high);
      range.end();
    });
  }
  if (row.state == storage::StudyState::running)
    append_estimate(study.begin("estimate"), row, estimate, !held.code.empty());
  if (row.webhook) append_webhook(study.begin("webhook"), *row.webhook);
  study.end();
  return out;
}

std::string trial_row_json(const storage::TrialDetail& detail, Detail amount) {
  const storage::TrialRow& row = detail.trial;
  std::string out;
  out.reserve(512);
  ObjectWriter trial(out);
  trial.integer("study", to_int(row.key.study))
      .integer("trial", to_int(row.key.number))
      .text("state", name_of(row.state))
      .text("params", row.params)
      .integer("seed", row.seed);
  append_values(trial.begin("values"), row.values);
  trial.integer("attempts", row.attempts);
  if (row.rejected > 0) trial.integer("rejected", row.rejected);
  if (row.accepted_attempt) trial.integer("accepted_attempt", to_int(*row.accepted_attempt));
  if (detail.attempt) {
    trial.integer("code_version", detail.attempt->code);
    append_device(trial.begin("device"), *detail.attempt);
  }
  const protocol::RunMetrics metrics =
      detail.attempt ? detail.attempt->metrics : protocol::RunMetrics{};
  trial.integer("started_at", row.started_at)
      .integer("finished_at", row.finished_at)
      .integer("run_ms", metrics.run_ms)
      .integer("load_ms", metrics.load_ms)
      .integer("seq", row.seq);
  if (row.failure) append_failure(trial.begin("error"), *row.failure);
  if (!row.suggested.empty()) append_suggested(trial.begin("suggested"), row.suggested);
  if (detail.attempt && !detail.attempt->attrs.empty()) trial.text("attrs", detail.attempt->attrs);
  if (!row.asked_attrs.empty()) trial.text("asked_attrs", row.asked_attrs);
  if (row.constraints) append_values(trial.begin("constraints"), *row.constraints);
  if (!is_feasible(detail)) trial.boolean("infeasible", true);
  if (!detail.last.empty()) append_last(trial.begin("last"), detail.last);
  if (amount != Detail::row) {
    append_list(trial.begin("points"), detail.points, [&out](const protocol::Point& point) {
      out += '[';
      append_integer(out, point.step);
      out += ',';
      append_float(out, point.value);
      out += ']';
    });
  }
  if (amount == Detail::full) {
    append_list(trial.begin("attempts_list"), detail.attempts_list,
                [&out](const storage::AttemptRow& attempt) { append_attempt(out, attempt); });
  }
  trial.end();
  return out;
}

}  // namespace hyperflock::http
