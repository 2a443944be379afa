// The messages of server/docs/protocol.md as plain structs. Parsed once at the edge by codec.h; raw
// JSON goes no further. Plain data: no JSON library, no sockets, usable on any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"

namespace hyperflock::protocol {

inline constexpr int kProtocolVersion = 1;

enum class Role { device, researcher };
enum class PulseState { loading, running, waiting_call };
enum class Outcome { complete, pruned, failed };
enum class Cause {
  worker_lost,
  user_error,
  out_of_memory,
  device_lost,
  timeout,
  invalid,
  cancelled
};
enum class AttemptKind { primary, duplicate, replica };
enum class ReleaseReason { page_hidden, stopped, shutdown, cannot_run, no_owner };
enum class WaitReason { no_work, no_matching_work, draining, read_only };
enum class Verdict { accepted, evidence, recorded };
enum class CheckpointFormat { tree, npz };
enum class RevokeCode { cancelled, timeout, stalled, superseded, device_revoked };

// A device's graphics adapter, as coarse as placing trials allows.
struct GpuFacts {
  std::string adapter;    // vendor and architecture
  bool software = false;  // a program on the CPU
  bool f16 = false;       // native half precision
  std::int64_t buffer_mb = 0;
  bool operator==(const GpuFacts&) const = default;
};

struct Capabilities {
  std::vector<std::string> backends;
  std::int64_t memory_mb = 0;
  std::int64_t cores = 0;
  std::string engine;
  std::string device_class;       // "class" on the wire
  std::optional<GpuFacts> gpu{};  // of WebGPU
  bool operator==(const Capabilities&) const = default;
};

struct Point {
  std::int64_t step = 0;
  double value = 0;
  bool operator==(const Point&) const = default;
};

struct Failure {
  Cause cause = Cause::user_error;
  std::string code;
  std::string message;
  std::string traceback;
  bool operator==(const Failure&) const = default;
};

struct BlobRef {
  std::string sha256;  // 64 lower-case hex digits
  std::int64_t bytes = 0;
  bool operator==(const BlobRef&) const = default;
};

struct DataRef {
  std::string name;
  std::string kind;  // npy, npz or file
  std::string filename;
  BlobRef blob;
  bool operator==(const DataRef&) const = default;
};

// What an attempt saved of its trial, and what a later one begins with (R37).
struct Checkpoint {
  AttemptId attempt{};  // that saved it
  CheckpointFormat format = CheckpointFormat::tree;
  BlobRef blob;
  std::optional<std::int64_t> step;  // the last one that was reported before it
  bool operator==(const Checkpoint&) const = default;
};

// ---- device or researcher to server

struct Hello {
  int protocol = 0;
  Role role = Role::device;
  std::string device;  // device only
  std::string secret;  // device only
  std::string token;   // researcher only
  std::string agent;
  Capabilities capabilities;        // device only
  std::vector<AttemptId> attempts;  // device only
  bool operator==(const Hello&) const = default;
};

struct Ready {
  bool operator==(const Ready&) const = default;
};

struct Pulse {
  AttemptId attempt{};
  std::int64_t progress = 0;
  PulseState state = PulseState::running;
  bool operator==(const Pulse&) const = default;
};

struct Heartbeat {
  std::vector<Pulse> attempts;
  bool operator==(const Heartbeat&) const = default;
};

struct Report {
  AttemptId attempt{};
  std::int64_t seq = 0;
  std::vector<Point> points;
  bool operator==(const Report&) const = default;
};

struct Call {
  std::int64_t id = 0;
  AttemptId attempt{};
  std::string method;
  std::optional<std::int64_t> step;  // args.step of should_prune
  std::vector<Point> points;
  std::string name{};          // args.name of suggest
  std::string distribution{};  // args.distribution of suggest, JSON text
  bool operator==(const Call&) const = default;
};

struct RunMetrics {
  Millis load_ms = 0;
  Millis run_ms = 0;
  bool operator==(const RunMetrics&) const = default;
};

struct TrialResult {
  AttemptId attempt{};
  std::int64_t seq = 0;
  Outcome outcome = Outcome::complete;
  std::vector<double> values;      // complete only
  std::optional<Failure> failure;  // failed only; "error" on the wire
  std::vector<Point> points;
  RunMetrics metrics;
  std::string backend;
  bool next = false;
  std::string attrs{};  // JSON text; empty: none. An asked study's only (R49)
  // What computed it, as name/version with spaces between; empty: not told (R52).
  std::string software{};
  bool operator==(const TrialResult&) const = default;
};

struct Release {
  AttemptId attempt{};
  std::int64_t seq = 0;
  ReleaseReason reason = ReleaseReason::stopped;
  bool operator==(const Release&) const = default;
};

// What the running objective printed (R39).
struct Output {
  AttemptId attempt{};
  std::vector<std::string> lines;
  std::int64_t dropped = 0;  // lines that were left out before these
  bool operator==(const Output&) const = default;
};

// Who wants to own an asked study (R42).
struct OwnerClaim {
  std::string label;
  bool standby = false;
  bool operator==(const OwnerClaim&) const = default;
};

struct Watch {
  StudyId study{};
  std::int64_t after = 0;
  std::optional<TrialNumber> trial{};  // its lines too
  std::optional<std::int64_t> log_after{};
  std::optional<OwnerClaim> own{};
  bool operator==(const Watch&) const = default;
};

// An owner's answer to one call: a value, or a code with its message.
struct OwnerAnswer {
  std::int64_t id = 0;
  std::string value;  // JSON text
  std::string code;   // empty: `value` is the answer
  std::string message;
  bool operator==(const OwnerAnswer&) const = default;
};

// A trial that the owner's sampler was asked for (R44).
struct AskedTrial {
  TrialNumber trial{};
  std::string params = "{}";  // JSON text
  std::string attrs{};        // JSON text of what the trial begins with; empty: nothing
  bool operator==(const AskedTrial&) const = default;
};

// What the owner of a study says (R46); "reply" on the wire.
struct OwnerReply {
  StudyId study{};
  std::int64_t taken = 0;  // the newest batch that it has taken in
  std::int64_t room = 0;   // trials that it would ask for now
  std::optional<std::int64_t> target{};
  std::vector<OwnerAnswer> answers{};  // "replies" on the wire
  std::vector<AskedTrial> asked{};
  bool finish = false;
  bool operator==(const OwnerReply&) const = default;
};

using ClientMessage = std::variant<Hello, Ready, Heartbeat, Report, Call, TrialResult, Release,
                                   Output, Watch, OwnerReply>;

// ---- server to device or researcher

struct Welcome {
  int protocol = kProtocolVersion;
  std::uint64_t session = 0;
  std::string server;
  Millis heartbeat_ms = 0;
  Millis lease_ms = 0;
  std::vector<AttemptId> attempts;
  bool operator==(const Welcome&) const = default;
};

struct Refused {
  std::string code;
  std::string message;
  bool operator==(const Refused&) const = default;
};

struct Lease {
  AttemptId attempt{};
  StudyId study{};
  TrialNumber trial{};
  AttemptKind kind = AttemptKind::primary;
  std::string study_name;
  std::string owner;
  std::int64_t total = 0;
  std::string params;  // JSON text (R5)
  std::uint32_t seed = 0;
  std::string entry;
  BlobRef bundle;
  std::vector<DataRef> data;
  std::string chainer;    // runtime.chainer
  std::string backend{};  // runtime.backend; empty: the trial asks for no device
  Millis time_limit_ms = 0;
  Millis lease_ms = 0;
  std::optional<Checkpoint> checkpoint{};
  bool asked = false;           // of an asked study
  std::int64_t directions = 0;  // how many values a result has; 0: the study does not say
  std::string suggested{};      // the trial's log as JSON text (R47); empty: none
  std::string attrs{};          // what it was asked with (R44); empty: nothing
  bool operator==(const Lease&) const = default;
};

struct LeaseOffer {
  Lease lease;
  bool operator==(const LeaseOffer&) const = default;
};

struct Wait {
  Millis delay_ms = 0;
  WaitReason reason = WaitReason::no_work;
  bool operator==(const Wait&) const = default;
};

struct Ack {
  std::optional<AttemptId> attempt;
  std::optional<std::int64_t> seq;
  bool operator==(const Ack&) const = default;
};

struct ResultAck {
  AttemptId attempt{};
  std::int64_t seq = 0;
  Verdict verdict = Verdict::accepted;
  std::optional<Lease> lease;
  bool operator==(const ResultAck&) const = default;
};

struct Reply {
  std::int64_t id = 0;
  bool value = false;                 // of should_prune
  std::optional<std::string> text{};  // of suggest: JSON text
  bool operator==(const Reply&) const = default;
};

struct ErrorMessage {
  std::string code;
  std::string message;
  std::string field;               // left out when empty
  std::optional<std::int64_t> id;  // the call that it answers
  std::optional<AttemptId> attempt;
  std::optional<StudyId> study{};  // of what an owner said
  std::optional<TrialNumber> trial{};
  bool operator==(const ErrorMessage&) const = default;
};

struct Revoke {
  AttemptId attempt{};
  RevokeCode code = RevokeCode::cancelled;
  std::string message;
  bool operator==(const Revoke&) const = default;
};

// Rows are written by the storage reader as JSON text; the dispatcher never makes one.
struct Update {
  std::string study_json;
  std::vector<std::string> trials_json;
  std::int64_t cursor = 0;
  bool operator==(const Update&) const = default;
};

struct LogLine {
  std::int64_t line = 0;  // counts the lines of a trial, from 1
  AttemptId attempt{};
  std::string text;
  bool operator==(const LogLine&) const = default;
};

// What a watched trial printed, newest lines last (R39).
struct TrialLog {
  StudyId study{};
  TrialNumber trial{};
  std::vector<LogLine> lines;
  std::int64_t cursor = 0;
  bool operator==(const TrialLog&) const = default;
};

// What a batch tells the owner of a study, in the order in which it was committed (R46 to R49).
// An attempt asks for a value.
struct SuggestCall {
  std::int64_t id = 0;
  TrialNumber trial{};
  AttemptId attempt{};
  std::string name;
  std::string distribution;  // JSON text
  bool operator==(const SuggestCall&) const = default;
};
// An attempt asks whether to go on.
struct PruneCall {
  std::int64_t id = 0;
  TrialNumber trial{};
  AttemptId attempt{};
  std::optional<std::int64_t> step{};
  std::vector<Point> points{};  // those not told yet
  bool operator==(const PruneCall&) const = default;
};
struct PointsCall {
  TrialNumber trial{};
  AttemptId attempt{};
  std::vector<Point> points;
  bool operator==(const PointsCall&) const = default;
};
// The trial's points above `step` are superseded; nothing: all are.
struct ResumedCall {
  TrialNumber trial{};
  AttemptId attempt{};
  std::optional<std::int64_t> step{};
  bool operator==(const ResumedCall&) const = default;
};
// The first lease of an attempt.
struct StartedCall {
  TrialNumber trial{};
  AttemptId attempt{};
  std::string device;
  bool operator==(const StartedCall&) const = default;
};
// The trial has its outcome.
struct FinishedCall {
  TrialNumber trial{};
  std::optional<AttemptId> attempt{};
  Outcome state = Outcome::complete;
  std::vector<double> values{};
  std::string params = "{}";  // JSON text
  std::string attrs{};        // JSON text; empty: none
  std::optional<Failure> failure{};
  std::int64_t seq = 0;
  std::string device{};
  std::vector<Point> points{};
  bool operator==(const FinishedCall&) const = default;
};
using OwnerCallItem =
    std::variant<SuggestCall, PruneCall, PointsCall, ResumedCall, StartedCall, FinishedCall>;

// One batch for the owner of a study (R46); "call" on the wire.
struct OwnerCall {
  StudyId study{};
  std::int64_t generation = 0;
  std::int64_t batch = 0;
  std::int64_t demand = 0;
  std::vector<OwnerCallItem> calls;
  bool operator==(const OwnerCall&) const = default;
};

using ServerMessage = std::variant<Welcome, Refused, LeaseOffer, Wait, Ack, ResultAck, Reply,
                                   ErrorMessage, Revoke, Update, TrialLog, OwnerCall>;

}  // namespace hyperflock::protocol
