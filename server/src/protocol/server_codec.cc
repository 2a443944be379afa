// Messages that the server sends (see codec.h). Writing is on the hot path: text is appended to one
// string. Reading is for tests and the load emulator.
#include "protocol/codec.h"
#include "protocol/json_reader.h"
#include "protocol/json_writer.h"
#include "protocol/owner_parts.h"
#include "protocol/wire_parts.h"

namespace hyperflock::protocol {
namespace {

Welcome read_welcome(const Value& in) {
  Welcome out;
  out.protocol = static_cast<int>(
      in["protocol"].as_integer({.low = 0, .high = std::numeric_limits<int>::max()}));
  out.session = static_cast<std::uint64_t>(in["session"].as_integer());
  out.server = in["server"].as_text();
  out.heartbeat_ms = in["heartbeat_ms"].as_integer();
  out.lease_ms = in["lease_ms"].as_integer();
  in["attempts"].each(kMaxHeldAttempts,
                      [&](const Value& one) { out.attempts.push_back(one.as_id<AttemptId>()); });
  return out;
}

Refused read_refused(const Value& in) {
  Refused out;
  out.code = in["code"].as_text(kMaxCode);
  out.message = in["message"].as_text(kMaxMessage);
  return out;
}

Wait read_wait(const Value& in) {
  Wait out;
  out.delay_ms = in["delay_ms"].as_integer();
  out.reason = in["reason"].as_name<WaitReason>();
  return out;
}

Ack read_ack(const Value& in) {
  Ack out;
  if (const Value attempt = in.find("attempt"); attempt.present())
    out.attempt = attempt.as_id<AttemptId>();
  if (const Value seq = in.find("seq"); seq.present()) out.seq = seq.as_integer({.low = 1});
  return out;
}

ResultAck read_result_ack(const Value& in) {
  ResultAck out;
  out.attempt = in["attempt"].as_id<AttemptId>();
  out.seq = in["seq"].as_integer({.low = 1});
  out.verdict = in["verdict"].as_name<Verdict>();
  if (const Value lease = in.find("lease"); lease.present()) out.lease = read_lease(lease);
  return out;
}

Reply read_reply(const Value& in) {
  Reply out;
  out.id = in["id"].as_integer();
  if (const Value text = in.find("text"); text.present()) {
    out.text = text.as_text_bytes(kMaxAnswerBytes);
  } else {
    out.value = in["value"].as_bool();
  }
  return out;
}

ErrorMessage read_error(const Value& in) {
  ErrorMessage out;
  out.code = in["code"].as_text(kMaxCode);
  out.message = in["message"].as_text(kMaxMessage);
  out.field = in.find("field").as_text();
  if (const Value id = in.find("id"); id.present()) out.id = id.as_integer();
  if (const Value attempt = in.find("attempt"); attempt.present())
    out.attempt = attempt.as_id<AttemptId>();
  if (const Value study = in.find("study"); study.present()) out.study = study.as_id<StudyId>();
  if (const Value trial = in.find("trial"); trial.present())
    out.trial = trial.as_id<TrialNumber>(0);
  return out;
}

Revoke read_revoke(const Value& in) {
  Revoke out;
  out.attempt = in["attempt"].as_id<AttemptId>();
  out.code = in["code"].as_name<RevokeCode>();
  out.message = in["message"].as_text(kMaxMessage);
  return out;
}

std::string read_row(const Value& in) {
  std::string out;
  if (in.require_object()) append_json(out, in.json());
  return out;
}

Update read_update(const Value& in) {
  Update out;
  out.study_json = read_row(in["study"]);
  in["trials"].each(kMaxFrameBytes,
                    [&](const Value& row) { out.trials_json.push_back(read_row(row)); });
  out.cursor = in["cursor"].as_integer();
  return out;
}

TrialLog read_log(const Value& in) {
  TrialLog out;
  out.study = in["study"].as_id<StudyId>();
  out.trial = in["trial"].as_id<TrialNumber>(0);
  in["lines"].each(kMaxFrameBytes, [&](const Value& line) {
    out.lines.push_back({.line = line["line"].as_integer({.low = 1}),
                         .attempt = line["attempt"].as_id<AttemptId>(),
                         .text = line["text"].as_text(kMaxLine)});
  });
  out.cursor = in["cursor"].as_integer();
  return out;
}

std::optional<ServerMessage> read_message(std::string_view type, const Value& in) {
  if (type == "result_ack") return read_result_ack(in);
  if (type == "lease") return LeaseOffer{read_lease(in["lease"])};
  if (type == "ack") return read_ack(in);
  if (type == "wait") return read_wait(in);
  if (type == "reply") return read_reply(in);
  if (type == "error") return read_error(in);
  if (type == "revoke") return read_revoke(in);
  if (type == "welcome") return read_welcome(in);
  if (type == "refused") return read_refused(in);
  if (type == "update") return read_update(in);
  if (type == "log") return read_log(in);
  if (type == "call") return read_owner_call(in);
  return std::nullopt;
}

struct Writer {
  std::string& out;

  void operator()(const Welcome& m) const {
    ObjectWriter w(out);
    w.text("type", "welcome").integer("protocol", m.protocol);
    append_unsigned(w.begin("session"), m.session);
    w.text("server", m.server)
        .integer("heartbeat_ms", m.heartbeat_ms)
        .integer("lease_ms", m.lease_ms);
    append_attempts(w.begin("attempts"), m.attempts);
    w.end();
  }
  void operator()(const Refused& m) const {
    ObjectWriter(out).text("type", "refused").text("code", m.code).text("message", m.message).end();
  }
  void operator()(const LeaseOffer& m) const {
    ObjectWriter w(out);
    w.text("type", "lease");
    append_lease(w.begin("lease"), m.lease);
    w.end();
  }
  void operator()(const Wait& m) const {
    ObjectWriter(out)
        .text("type", "wait")
        .integer("delay_ms", m.delay_ms)
        .text("reason", name_of(m.reason))
        .end();
  }
  void operator()(const Ack& m) const {
    ObjectWriter w(out);
    w.text("type", "ack");
    if (m.attempt) w.integer("attempt", to_int(*m.attempt));
    if (m.seq) w.integer("seq", *m.seq);
    w.end();
  }
  void operator()(const ResultAck& m) const {
    ObjectWriter w(out);
    w.text("type", "result_ack")
        .integer("attempt", to_int(m.attempt))
        .integer("seq", m.seq)
        .text("verdict", name_of(m.verdict));
    if (m.lease) append_lease(w.begin("lease"), *m.lease);
    w.end();
  }
  void operator()(const Reply& m) const {
    ObjectWriter w(out);
    w.text("type", "reply").integer("id", m.id);
    if (m.text) {
      w.text("text", *m.text);
    } else {
      w.boolean("value", m.value);
    }
    w.end();
  }
  void operator()(const ErrorMessage& m) const {
    ObjectWriter w(out);
    w.text("type", "error").text("code", m.code).text("message", m.message);
    if (!m.field.empty()) w.text("field", m.field);
    if (m.id) w.integer("id", *m.id);
    if (m.attempt) w.integer("attempt", to_int(*m.attempt));
    if (m.study) w.integer("study", to_int(*m.study));
    if (m.trial) w.integer("trial", to_int(*m.trial));
    w.end();
  }
  void operator()(const Revoke& m) const {
    ObjectWriter(out)
        .text("type", "revoke")
        .integer("attempt", to_int(m.attempt))
        .text("code", name_of(m.code))
        .text("message", m.message)
        .end();
  }
  void operator()(const Update& m) const {
    ObjectWriter w(out);
    w.text("type", "update").raw("study", m.study_json);
    append_list(w.begin("trials"), m.trials_json, [&](const std::string& row) { out += row; });
    w.integer("cursor", m.cursor).end();
  }
  void operator()(const TrialLog& m) const {
    ObjectWriter w(out);
    w.text("type", "log").integer("study", to_int(m.study)).integer("trial", to_int(m.trial));
    append_log_lines(w.begin("lines"), m.lines);
    w.integer("cursor", m.cursor).end();
  }
  void operator()(const OwnerCall& m) const { append_owner_call(out, m); }
};

// What the text will need, so that a lease is written without growing the string on the way.
std::size_t expected_bytes(const ServerMessage& message) {
  constexpr std::size_t kSmall = 160;
  constexpr std::size_t kLease = 640;
  const Lease* lease = nullptr;
  if (const auto* offer = std::get_if<LeaseOffer>(&message)) lease = &offer->lease;
  if (const auto* ack = std::get_if<ResultAck>(&message); ack != nullptr && ack->lease)
    lease = &*ack->lease;
  return lease == nullptr ? kSmall
                          : kLease + lease->params.size() + lease->suggested.size() +
                                lease->attrs.size() + lease->data.size() * 256;
}

}  // namespace

Result<ServerMessage> parse_server_message(std::string_view text) {
  return parse_message<ServerMessage>(text, read_message);
}

std::string serialize(const ServerMessage& message) {
  std::string out;
  out.reserve(expected_bytes(message));
  std::visit(Writer{out}, message);
  return out;
}

}  // namespace hyperflock::protocol
