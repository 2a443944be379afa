// Converts rows of the database to records and back; see rows.h.
#include "storage/sqlite/db/rows.h"

#include <sqlite3.h>

#include <bit>
#include <cstring>

#include "protocol/codec.h"

namespace hyperflock::storage::sqlite {
namespace {

// Enumerations are stored as numbers. The numbers never change: a new member goes to the end.
template <typename Enum>
constexpr bool is_numbered(std::initializer_list<Enum> members) {
  int expected = 0;
  for (const Enum member : members) {
    if (static_cast<int>(member) != expected++) return false;
  }
  return true;
}
using protocol::AttemptKind;
using protocol::Cause;
using protocol::Direction;
using protocol::Verdict;
static_assert(is_numbered({StudyState::running, StudyState::finished, StudyState::cancelled}));
static_assert(is_numbered({TrialState::running, TrialState::complete, TrialState::pruned,
                           TrialState::failed, TrialState::cancelled}));
static_assert(is_numbered({AttemptState::live, AttemptState::accepted, AttemptState::evidence,
                           AttemptState::failed, AttemptState::released, AttemptState::expired,
                           AttemptState::revoked}));
static_assert(is_numbered({AttemptKind::primary, AttemptKind::duplicate, AttemptKind::replica}));
static_assert(is_numbered({Cause::worker_lost, Cause::user_error, Cause::out_of_memory,
                           Cause::device_lost, Cause::timeout, Cause::invalid, Cause::cancelled}));
static_assert(is_numbered({protocol::CheckpointFormat::tree, protocol::CheckpointFormat::npz}));
static_assert(is_numbered({Direction::minimize, Direction::maximize}));
static_assert(is_numbered({protocol::StudyKind::grid, protocol::StudyKind::asked,
                           protocol::StudyKind::points, protocol::StudyKind::random,
                           protocol::StudyKind::sobol}));
static_assert(is_numbered({protocol::WebhookEvent::finished, protocol::WebhookEvent::stopped,
                           protocol::WebhookEvent::cancelled, protocol::WebhookEvent::no_devices}));
static_assert(is_numbered({DeliveryState::waiting, DeliveryState::delivered,
                           DeliveryState::failed}));
static_assert(is_numbered({Constrained::no, Constrained::waits, Constrained::judged}));
static_assert(is_numbered({Verdict::accepted, Verdict::evidence, Verdict::recorded}));
static_assert(is_numbered({PrincipalRole::admin, PrincipalRole::researcher}));
static_assert(is_numbered({PrincipalState::active, PrincipalState::pending, PrincipalState::refused,
                           PrincipalState::suspended}));

static_assert(std::endian::native == std::endian::little, "doubles are stored little-endian");

std::string owned(const Query& row, int column) { return std::string(row.text(column)); }

}  // namespace

Blob as_blob(const std::vector<double>& values) {
  return Blob{{reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)}};
}

std::vector<double> doubles_of(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
  return values;
}

std::optional<protocol::Failure> read_failure(const Query& row, int column) {
  if (row.null(column)) return std::nullopt;
  return protocol::Failure{static_cast<Cause>(row.integer(column)), owned(row, column + 1),
                           owned(row, column + 2), owned(row, column + 3)};
}

FailureColumns::FailureColumns(const protocol::Failure* failure) {
  if (failure == nullptr) return;
  cause = static_cast<std::int64_t>(failure->cause);
  code = failure->code;
  message = failure->message;
  traceback = failure->traceback;
}

std::optional<protocol::Checkpoint> read_checkpoint(const Query& row, int column) {
  if (row.null(column)) return std::nullopt;
  return protocol::Checkpoint{
      .attempt = AttemptId{row.integer(column)},
      .format = static_cast<protocol::CheckpointFormat>(row.integer(column + 1)),
      .blob = {owned(row, column + 2), row.integer(column + 3)},
      .step = row.maybe_integer(column + 4),
      .logged = row.maybe_integer(column + 5)};
}

CheckpointColumns::CheckpointColumns(const protocol::Checkpoint* checkpoint) {
  if (checkpoint == nullptr) return;
  attempt = to_int(checkpoint->attempt);
  format = static_cast<std::int64_t>(checkpoint->format);
  sha256 = checkpoint->blob.sha256;
  bytes = checkpoint->blob.bytes;
  step = checkpoint->step;
  logged = checkpoint->logged;
}

protocol::StudySpec read_spec(std::string_view text, StudyId id) {
  auto spec = protocol::parse_study_spec(text);
  if (!spec) {
    throw SqliteError(SQLITE_CORRUPT,
                      "study " + std::to_string(to_int(id)) +
                          " has a spec that cannot be read: " + spec.error().message);
  }
  return std::move(spec).value();
}

StudyRow read_study(const Query& row) {
  StudyRow study;
  study.id = StudyId{row.integer(0)};
  study.owner = owned(row, 1);
  study.project = owned(row, 2);
  study.spec = read_spec(row.text(3), study.id);
  study.total = row.integer(4) + row.integer(16);
  study.created_at = row.integer(5);
  study.state = static_cast<StudyState>(row.integer(6));
  study.complete = row.integer(7);
  study.pruned = row.integer(8);
  study.failed = row.integer(9);
  study.running = row.integer(10);
  study.attempts = row.integer(11);
  study.cursor = row.integer(12);
  study.finished_at = row.integer(13);
  if (const auto best = row.maybe_integer(14)) study.best_trial = TrialNumber{*best};
  study.best_value = row.real(15);
  study.generation = row.integer(17);
  study.sampler = owned(row, 18);
  study.sampler_since = row.integer(19);
  study.wanted = row.integer(20);
  study.paused = row.integer(21) != 0;
  study.artifacts = row.integer(22);
  study.artifact_bytes = row.integer(23);
  if (const auto trial = row.maybe_integer(24)) study.stopped_by = TrialNumber{*trial};
  study.forgiven_seq = row.integer(25);
  study.priority = row.integer(26);
  study.code = row.integer(27);
  study.resumable_code = row.integer(28);
  study.approval = static_cast<Approval>(row.integer(29));
  study.refusal = owned(row, 30);
  if (const auto from = row.maybe_integer(31)) study.search_from = TrialNumber{*from};
  return study;
}

TrialDetail read_trial(const Query& row) {
  TrialDetail detail;
  TrialRow& trial = detail.trial;
  trial.key = {StudyId{row.integer(0)}, TrialNumber{row.integer(1)}};
  trial.state = static_cast<TrialState>(row.integer(2));
  trial.seq = row.integer(3);
  trial.attempts = row.integer(4);
  if (const auto accepted = row.maybe_integer(5)) trial.accepted_attempt = AttemptId{*accepted};
  trial.seed = static_cast<std::uint32_t>(row.integer(7));
  trial.started_at = row.integer(8);
  trial.finished_at = row.integer(9);
  trial.params = owned(row, 10);
  trial.failure = read_failure(row, 11);
  if (static_cast<Constrained>(row.integer(17)) == Constrained::judged)
    trial.constraints = doubles_of(row.text(18));
  trial.rejected = row.integer(19);
  return detail;
}

std::int64_t newest_attempt_of(const Query& trial_row) { return trial_row.integer(6); }
std::int64_t forgiven_attempt_of(const Query& trial_row) { return trial_row.integer(15); }
std::string asked_attrs_of(const Query& trial_row) { return owned(trial_row, 16); }

StoredAttempt read_attempt(const Query& row) {
  StoredAttempt stored;
  AttemptRow& attempt = stored.row;
  attempt.id = AttemptId{row.integer(0)};
  attempt.trial = {StudyId{row.integer(1)}, TrialNumber{row.integer(2)}};
  stored.previous = row.maybe_integer(3);
  attempt.kind = static_cast<AttemptKind>(row.integer(4));
  attempt.state = static_cast<AttemptState>(row.integer(5));
  attempt.result_seq = row.integer(6);
  attempt.metrics = {row.integer(7), row.integer(8)};
  attempt.started_at = row.integer(9);
  attempt.finished_at = row.integer(10);
  attempt.device = row.null(11) ? kErasedDevice : owned(row, 11);
  attempt.device_class = owned(row, 12);
  attempt.engine = owned(row, 13);
  attempt.backend = owned(row, 14);
  attempt.values = doubles_of(row.text(15));
  attempt.failure = read_failure(row, 16);
  attempt.from = read_checkpoint(row, 20);
  attempt.adapter = owned(row, 26);
  attempt.attrs = owned(row, 27);
  attempt.software = owned(row, 28);
  attempt.code = row.integer(29);
  if (!row.null(30))
    attempt.rejection = {owned(row, 30), row.integer(31), owned(row, 32), row.integer(33) != 0};
  return stored;
}

ArtifactRow read_artifact(const Query& row) {
  ArtifactRow artifact;
  artifact.id = owned(row, 0);
  artifact.trial = {StudyId{row.integer(1)}, TrialNumber{row.integer(2)}};
  artifact.attempt = AttemptId{row.integer(3)};
  artifact.name = owned(row, 4);
  artifact.type = owned(row, 5);
  artifact.store = owned(row, 6);
  artifact.blob = {owned(row, 7), row.integer(8)};
  artifact.arrived = row.integer(9);
  artifact.created_at = row.integer(10);
  return artifact;
}

}  // namespace hyperflock::storage::sqlite
