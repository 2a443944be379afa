// See owner_parts.h.
#include "protocol/json_writer.h"
#include "protocol/owner_parts.h"
#include "protocol/wire_parts.h"

namespace hyperflock::protocol {
namespace {

OwnerAnswer read_answer(const Value& in) {
  OwnerAnswer out;
  out.id = in["id"].as_integer();
  const Value code = in.find("code");
  if (!code.present()) {
    out.value = in["value"].as_text_bytes(kMaxAnswerBytes);
    return out;
  }
  out.code = code.as_text(kMaxCode);
  if (out.code.empty()) code.bad_field("a string that is not empty");
  out.message = in["message"].as_text(kMaxMessage);
  return out;
}

AskedTrial read_asked(const Value& in) {
  AskedTrial out;
  out.trial = in["trial"].as_id<TrialNumber>(0);
  if (const Value params = in.find("params"); params.present())
    out.params = params.as_text_bytes(kMaxParamsBytes);
  out.attrs = in.find("attrs").as_text_bytes(kMaxAttrsBytes);
  return out;
}

FinishedCall read_finished(const Value& in) {
  FinishedCall out;
  out.trial = in["trial"].as_id<TrialNumber>(0);
  if (const Value attempt = in.find("attempt"); attempt.present())
    out.attempt = attempt.as_id<AttemptId>();
  const Value args = in["args"];
  out.state = args["state"].as_name<Outcome>();
  args["values"].each(kMaxValues, [&](const Value& one) { out.values.push_back(one.as_number()); });
  out.params = args["params"].as_text_bytes(kMaxParamsBytes);
  out.attrs = args.find("attrs").as_text_bytes(kMaxAttrsBytes);
  if (const Value error = args.find("error"); error.present()) out.failure = read_failure(error);
  out.seq = args["seq"].as_integer({.low = 1});
  out.device = args.find("device").as_text();
  out.points = read_points(in.find("points"));
  return out;
}

OwnerCallItem read_item(const Value& in) {
  const Value method = in["method"];
  const std::string name = method.as_text();
  if (name == "finished") return read_finished(in);
  const bool answered = name == "suggest" || name == "should_prune";
  const std::int64_t id = answered ? in["id"].as_integer() : 0;
  const auto trial = in["trial"].as_id<TrialNumber>(0);
  const auto attempt = in["attempt"].as_id<AttemptId>();
  if (name == "points") return PointsCall{trial, attempt, read_points(in["points"])};
  if (name == "suggest") {
    const Value args = in["args"];
    return SuggestCall{id, trial, attempt, read_suggest_name(args),
                       args["distribution"].as_text_bytes(kMaxDistributionBytes)};
  }
  if (name == "started") return StartedCall{trial, attempt, in["args"]["device"].as_text()};
  const Value args = in.find("args");
  args.require_object();
  std::optional<std::int64_t> step;
  if (const Value one = args.find("step"); one.present()) step = one.as_integer();
  if (name == "resumed") return ResumedCall{trial, attempt, step};
  if (name != "should_prune") method.bad_field("one of the names that the protocol lists");
  return PruneCall{id, trial, attempt, step, read_points(in.find("points"))};
}

// Writes one item of `calls`.
struct ItemWriter {
  std::string& out;

  void operator()(const SuggestCall& m) const {
    ObjectWriter w(out);
    w.integer("id", m.id).text("method", "suggest");
    of(w, m.trial, m.attempt);
    ObjectWriter(w.begin("args")).text("name", m.name).text("distribution", m.distribution).end();
    w.end();
  }
  void operator()(const PruneCall& m) const {
    ObjectWriter w(out);
    w.integer("id", m.id).text("method", "should_prune");
    of(w, m.trial, m.attempt);
    append_step(w.begin("args"), m.step);
    append_points(w.begin("points"), m.points);
    w.end();
  }
  void operator()(const PointsCall& m) const {
    ObjectWriter w(out);
    w.text("method", "points");
    of(w, m.trial, m.attempt);
    append_points(w.begin("points"), m.points);
    w.end();
  }
  void operator()(const ResumedCall& m) const {
    ObjectWriter w(out);
    w.text("method", "resumed");
    of(w, m.trial, m.attempt);
    append_step(w.begin("args"), m.step);
    w.end();
  }
  void operator()(const StartedCall& m) const {
    ObjectWriter w(out);
    w.text("method", "started");
    of(w, m.trial, m.attempt);
    ObjectWriter(w.begin("args")).text("device", m.device).end();
    w.end();
  }
  void operator()(const FinishedCall& m) const {
    ObjectWriter w(out);
    w.text("method", "finished");
    of(w, m.trial, m.attempt);
    ObjectWriter args(w.begin("args"));
    args.text("state", name_of(m.state));
    append_list(args.begin("values"), m.values, [&](double one) { append_float(out, one); });
    args.text("params", m.params);
    if (!m.attrs.empty()) args.text("attrs", m.attrs);
    if (m.failure) append_failure(args.begin("error"), *m.failure);
    args.integer("seq", m.seq);
    if (!m.device.empty()) args.text("device", m.device);
    args.end();
    append_points(w.begin("points"), m.points);
    w.end();
  }

 private:
  static void of(ObjectWriter& w, TrialNumber trial, std::optional<AttemptId> attempt) {
    w.integer("trial", to_int(trial));
    if (attempt) w.integer("attempt", to_int(*attempt));
  }
  static void append_step(std::string& out, std::optional<std::int64_t> step) {
    ObjectWriter args(out);
    if (step) args.integer("step", *step);
    args.end();
  }
};

}  // namespace

OwnerClaim read_claim(const Value& in) {
  OwnerClaim out;
  const Value label = in["label"];
  out.label = label.as_text(kMaxLabel);
  if (label.present() && out.label.empty()) label.bad_field("a string that is not empty");
  out.standby = in.find("standby").as_bool();
  return out;
}

std::string read_suggest_name(const Value& args) {
  const Value name = args["name"];
  std::string text = name.as_text();
  if (name.present() && text.empty()) name.bad_field("a string that is not empty");
  return text;
}

OwnerReply read_owner_reply(const Value& in) {
  OwnerReply out;
  out.study = in["study"].as_id<StudyId>();
  out.taken = in["taken"].as_integer();
  out.room = in["room"].as_integer();
  if (const Value target = in.find("target"); target.present()) out.target = target.as_integer();
  in.find("replies").each(kMaxOwnerItems,
                          [&](const Value& one) { out.answers.push_back(read_answer(one)); });
  in.find("asked").each(kMaxOwnerItems,
                        [&](const Value& one) { out.asked.push_back(read_asked(one)); });
  out.finish = in.find("finish").as_bool();
  return out;
}

OwnerCall read_owner_call(const Value& in) {
  OwnerCall out;
  out.study = in["study"].as_id<StudyId>();
  out.generation = in["generation"].as_integer();
  out.batch = in["batch"].as_integer();
  out.demand = in["demand"].as_integer();
  in["calls"].each(kMaxOwnerItems, [&](const Value& one) { out.calls.push_back(read_item(one)); });
  return out;
}

void append_claim(std::string& out, const OwnerClaim& claim) {
  ObjectWriter(out).text("label", claim.label).boolean("standby", claim.standby).end();
}

void append_owner_reply(std::string& out, const OwnerReply& reply) {
  ObjectWriter w(out);
  w.text("type", "reply")
      .integer("study", to_int(reply.study))
      .integer("taken", reply.taken)
      .integer("room", reply.room);
  if (reply.target) w.integer("target", *reply.target);
  append_list(w.begin("replies"), reply.answers, [&](const OwnerAnswer& one) {
    ObjectWriter answer(out);
    answer.integer("id", one.id);
    if (one.code.empty()) {
      answer.text("value", one.value);
    } else {
      answer.text("code", one.code).text("message", one.message);
    }
    answer.end();
  });
  append_list(w.begin("asked"), reply.asked, [&](const AskedTrial& one) {
    ObjectWriter asked(out);
    asked.integer("trial", to_int(one.trial)).text("params", one.params);
    if (!one.attrs.empty()) asked.text("attrs", one.attrs);
    asked.end();
  });
  w.boolean("finish", reply.finish).end();
}

void append_owner_call(std::string& out, const OwnerCall& call) {
  ObjectWriter w(out);
  w.text("type", "call")
      .integer("study", to_int(call.study))
      .integer("generation", call.generation)
      .integer("batch", call.batch)
      .integer("demand", call.demand);
  append_list(w.begin("calls"), call.calls,
              [&](const OwnerCallItem& item) { std::visit(ItemWriter{out}, item); });
  w.end();
}

}  // namespace hyperflock::protocol
