// Messages that a device or a researcher sends (see codec.h).
#include <algorithm>

#include "protocol/codec.h"
#include "protocol/json_reader.h"
#include "protocol/json_writer.h"
#include "protocol/owner_parts.h"
#include "protocol/wire_parts.h"

namespace hyperflock::protocol {
namespace {

void read_capabilities(const Value& in, Capabilities& out) {
  static constexpr std::array<std::string_view, 3> kBackends{"cpu", "webgpu", "webgl2"};
  static constexpr std::array<std::string_view, 4> kClasses{"phone", "tablet", "desktop", "node"};
  const auto as_one_of = [](const Value& value, const auto& names) {
    std::string text = value.as_text();
    if (value.present() && std::find(names.begin(), names.end(), text) == names.end()) {
      value.bad_field("one of the names that the protocol lists");
    }
    return text;
  };
  in["backends"].each(kMaxBackends,
                      [&](const Value& one) { out.backends.push_back(as_one_of(one, kBackends)); });
  out.memory_mb = in["memory_mb"].as_integer();
  out.cores = in["cores"].as_integer();
  out.engine = in["engine"].as_text();
  out.device_class = as_one_of(in["class"], kClasses);
  if (const Value gpu = in.find("gpu"); gpu.present()) {
    GpuFacts& facts = out.gpu.emplace();
    facts.adapter = gpu["adapter"].as_text(kMaxCode);
    facts.software = gpu["software"].as_bool();
    facts.f16 = gpu["f16"].as_bool();
    facts.buffer_mb = gpu["buffer_mb"].as_integer();
  }
}

Hello read_hello(const Value& in) {
  Hello out;
  out.protocol = static_cast<int>(
      in["protocol"].as_integer({.low = 0, .high = std::numeric_limits<int>::max()}));
  const Value role = in["role"];
  out.role = role.as_name<Role>();
  // The rest of another version's hello may look different: it is refused by its version, not by
  // its fields.
  if (out.protocol != kProtocolVersion) return out;
  if (out.role == Role::researcher) {
    out.token = in["token"].as_text();
    out.agent = in["agent"].as_text();
    return out;
  }
  out.device = in["device"].as_text();
  out.secret = in["secret"].as_text();
  out.agent = in["agent"].as_text();
  read_capabilities(in["capabilities"], out.capabilities);
  in.find("attempts").each(kMaxHeldAttempts, [&](const Value& one) {
    out.attempts.push_back(one.as_id<AttemptId>());
  });
  return out;
}

Heartbeat read_heartbeat(const Value& in) {
  Heartbeat out;
  in["attempts"].each(kMaxHeldAttempts, [&](const Value& one) {
    Pulse pulse;
    pulse.attempt = one["attempt"].as_id<AttemptId>();
    pulse.progress = one["progress"].as_integer();
    pulse.state = one["state"].as_name<PulseState>();
    out.attempts.push_back(pulse);
  });
  return out;
}

Report read_report(const Value& in) {
  Report out;
  out.attempt = in["attempt"].as_id<AttemptId>();
  out.seq = in["seq"].as_integer({.low = 1});
  out.points = read_points(in["points"]);
  return out;
}

Call read_call(const Value& in) {
  Call out;
  out.id = in["id"].as_integer();
  out.attempt = in["attempt"].as_id<AttemptId>();
  out.method = in["method"].as_text();
  if (out.method == "suggest") {
    const Value args = in["args"];
    out.name = read_suggest_name(args);
    out.distribution = args["distribution"].as_text_bytes(kMaxDistributionBytes);
  } else {
    const Value args = in.find("args");
    args.require_object();
    if (const Value step = args.find("step"); step.present()) out.step = step.as_integer();
  }
  out.points = read_points(in.find("points"));
  return out;
}

TrialResult read_result(const Value& in) {
  TrialResult out;
  out.attempt = in["attempt"].as_id<AttemptId>();
  out.seq = in["seq"].as_integer({.low = 1});
  out.outcome = in["outcome"].as_name<Outcome>();
  if (out.outcome == Outcome::complete) {
    const Value values = in["values"];
    values.each(kMaxValues, [&](const Value& one) { out.values.push_back(one.as_number()); });
    if (values.present() && out.values.empty()) values.bad_field("an array of 1 to 8 numbers");
  }
  if (out.outcome == Outcome::failed) out.failure = read_failure(in["error"]);
  out.points = read_points(in.find("points"));
  const Value metrics = in.find("metrics");
  if (metrics.present()) {
    out.metrics.load_ms = metrics["load_ms"].as_integer();
    out.metrics.run_ms = metrics["run_ms"].as_integer();
  }
  out.backend = in.find("backend").as_text();
  out.next = in.find("next").as_bool();
  out.attrs = in.find("attrs").as_text_bytes(kMaxAttrsBytes);
  out.software = in.find("software").as_text();
  return out;
}

Release read_release(const Value& in) {
  Release out;
  out.attempt = in["attempt"].as_id<AttemptId>();
  out.seq = in["seq"].as_integer({.low = 1});
  out.reason = in["reason"].as_name<ReleaseReason>();
  return out;
}

Output read_output(const Value& in) {
  Output out;
  out.attempt = in["attempt"].as_id<AttemptId>();
  in["lines"].each(kMaxLines,
                   [&](const Value& one) { out.lines.push_back(one.as_text(kMaxLine)); });
  if (const Value dropped = in.find("dropped"); dropped.present())
    out.dropped = dropped.as_integer();
  return out;
}

Watch read_watch(const Value& in) {
  Watch out;
  out.study = in["study"].as_id<StudyId>();
  out.after = in["after"].as_integer();
  if (const Value trial = in.find("trial"); trial.present())
    out.trial = trial.as_id<TrialNumber>(0);
  if (const Value after = in.find("log_after"); after.present()) out.log_after = after.as_integer();
  if (const Value own = in.find("own"); own.present()) out.own = read_claim(own);
  return out;
}

std::optional<ClientMessage> read_message(std::string_view type, const Value& in) {
  if (type == "result") return read_result(in);
  if (type == "heartbeat") return read_heartbeat(in);
  if (type == "report") return read_report(in);
  if (type == "call") return read_call(in);
  if (type == "ready") return Ready{};
  if (type == "release") return read_release(in);
  if (type == "output") return read_output(in);
  if (type == "hello") return read_hello(in);
  if (type == "watch") return read_watch(in);
  if (type == "reply") return read_owner_reply(in);
  return std::nullopt;
}

// Writes each message after `{"type":"..."`.
struct Writer {
  std::string& out;

  void operator()(const Hello& m) const {
    ObjectWriter w(out);
    w.text("type", "hello").integer("protocol", m.protocol).text("role", name_of(m.role));
    if (m.role == Role::researcher) return w.text("token", m.token).text("agent", m.agent).end();
    w.text("device", m.device).text("secret", m.secret).text("agent", m.agent);
    ObjectWriter c(w.begin("capabilities"));
    append_list(c.begin("backends"), m.capabilities.backends,
                [&](const std::string& one) { append_string(out, one); });
    c.integer("memory_mb", m.capabilities.memory_mb)
        .integer("cores", m.capabilities.cores)
        .text("engine", m.capabilities.engine)
        .text("class", m.capabilities.device_class);
    if (const auto& gpu = m.capabilities.gpu) append_gpu(c.begin("gpu"), *gpu);
    c.end();
    append_attempts(w.begin("attempts"), m.attempts);
    w.end();
  }
  void operator()(const Ready&) const { ObjectWriter(out).text("type", "ready").end(); }
  void operator()(const Heartbeat& m) const {
    ObjectWriter w(out);
    w.text("type", "heartbeat");
    append_list(w.begin("attempts"), m.attempts, [&](const Pulse& pulse) {
      ObjectWriter(out)
          .integer("attempt", to_int(pulse.attempt))
          .integer("progress", pulse.progress)
          .text("state", name_of(pulse.state))
          .end();
    });
    w.end();
  }
  void operator()(const Report& m) const {
    ObjectWriter w(out);
    w.text("type", "report").integer("attempt", to_int(m.attempt)).integer("seq", m.seq);
    append_points(w.begin("points"), m.points);
    w.end();
  }
  void operator()(const Call& m) const {
    ObjectWriter w(out);
    w.text("type", "call")
        .integer("id", m.id)
        .integer("attempt", to_int(m.attempt))
        .text("method", m.method);
    ObjectWriter args(w.begin("args"));
    if (m.step) args.integer("step", *m.step);
    if (m.method == "suggest") args.text("name", m.name).text("distribution", m.distribution);
    args.end();
    append_points(w.begin("points"), m.points);
    w.end();
  }
  void operator()(const TrialResult& m) const {
    ObjectWriter w(out);
    w.text("type", "result")
        .integer("attempt", to_int(m.attempt))
        .integer("seq", m.seq)
        .text("outcome", name_of(m.outcome));
    if (m.outcome == Outcome::complete) {
      append_list(w.begin("values"), m.values, [&](double value) { append_float(out, value); });
    }
    if (m.failure) append_failure(w.begin("error"), *m.failure);
    append_points(w.begin("points"), m.points);
    ObjectWriter(w.begin("metrics"))
        .integer("load_ms", m.metrics.load_ms)
        .integer("run_ms", m.metrics.run_ms)
        .end();
    w.text("backend", m.backend).boolean("next", m.next);
    if (!m.attrs.empty()) w.text("attrs", m.attrs);
    if (!m.software.empty()) w.text("software", m.software);
    w.end();
  }
  void operator()(const Release& m) const {
    ObjectWriter(out)
        .text("type", "release")
        .integer("attempt", to_int(m.attempt))
        .integer("seq", m.seq)
        .text("reason", name_of(m.reason))
        .end();
  }
  void operator()(const Output& m) const {
    ObjectWriter w(out);
    w.text("type", "output").integer("attempt", to_int(m.attempt));
    append_list(w.begin("lines"), m.lines,
                [&](const std::string& line) { append_string(out, line); });
    w.integer("dropped", m.dropped).end();
  }
  void operator()(const Watch& m) const {
    ObjectWriter w(out);
    w.text("type", "watch").integer("study", to_int(m.study)).integer("after", m.after);
    if (m.trial) w.integer("trial", to_int(*m.trial));
    if (m.log_after) w.integer("log_after", *m.log_after);
    if (m.own) append_claim(w.begin("own"), *m.own);
    w.end();
  }
  void operator()(const OwnerReply& m) const { append_owner_reply(out, m); }
};

}  // namespace

Result<ClientMessage> parse_client_message(std::string_view text) {
  return parse_message<ClientMessage>(text, read_message);
}

std::optional<std::int64_t> refused_call_id(std::string_view text) {
  const Result<Json> json = parse_object(text);
  if (!json) return std::nullopt;
  Problem problem;
  const Value in(*json, problem);
  const bool is_call = in["type"].as_text() == "call";
  const std::int64_t id = in["id"].as_integer();
  if (!is_call || problem.found()) return std::nullopt;
  return id;
}

std::string serialize(const ClientMessage& message) {
  std::string out;
  std::visit(Writer{out}, message);
  return out;
}

}  // namespace hyperflock::protocol
