// See attempt_upload.h.
#include "http/compute/attempt_upload.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace hyperflock::http {
namespace {

constexpr std::chrono::seconds kCommitTimeout{15};

bool is_taken(const storage::Outcome& outcome) {
  return outcome.applied == storage::Applied::applied ||
         outcome.applied == storage::Applied::repeated;
}

}  // namespace

Error ended_attempt() {
  return Error{"unknown_attempt", "The attempt has ended, or it is not this device's: drop it."};
}

Result<Admission::Uploader> live_attempt(const SiteContext& context, const Request& request,
                                         AttemptId attempt) {
  TRY(const auto row, context.storage.attempt(attempt));
  if (!row || row->device != request.device.id || row->state != storage::AttemptState::live) {
    return ended_attempt();
  }
  return Admission::Uploader{std::to_string(to_int(attempt)), row->device,
                             std::to_string(to_int(row->trial.study))};
}

std::int64_t room_of(const SiteContext& context) {
  constexpr auto kMost = static_cast<std::uint64_t>(storage::kAmpleRoom);
  return static_cast<std::int64_t>(std::min(context.room.left(), kMost));
}

Status check_bytes(const SiteContext& context, const Request& request, AttemptId attempt,
                   storage::UploadKind kind, std::int64_t room) {
  // If the file exists, this may be a repeated upload, whose bytes count already. Only the commit
  // finds out whether it is one.
  if (context.collected.exists(request.captures.at(1))) return {};
  const auto bytes = static_cast<std::int64_t>(request.content_length.value_or(0));
  TRY(const auto judged, context.storage.judge_bytes(attempt, kind, bytes, room));
  if (judged.applied != storage::Applied::applied) return refused_bytes(judged);
  return {};
}

Error refused_bytes(const storage::Outcome& outcome) {
  // The messages have no numbers, because a device must not learn how much the owner has stored.
  if (outcome.excess) {
    return Error{"quota_exceeded",
                 "The study's owner has no room for so many bytes: upload less, or ask an "
                 "administrator for more.",
                 "bytes"};
  }
  if (outcome.refusal == storage::Refusal::device_share) {
    return Error{"device_share",
                 "This device has uploaded its share of what the study's owner may store: upload "
                 "less, or let other devices compute too."};
  }
  return ended_attempt();
}

Status AttemptUpload::append(std::string_view bytes) {
  if (bytes.size() > most_ - bytes_) return too_large_;
  if (Status seen = look(bytes); !seen) return seen;
  bytes_ += bytes.size();
  return upload_->append(std::as_bytes(std::span(bytes)));
}

Response AttemptUpload::finish() {
  if (const Status seen = look_at_end(); !seen) return error_response(seen.error());
  const auto stored = upload_->finish();
  if (!stored) return error_response(stored.error());
  const auto result = hub::await_commit(
      kCommitTimeout,
      Error{"storage_unavailable", "The upload was not committed in time: send it again."},
      [this](hub::Committed told) {
        commit(static_cast<std::int64_t>(bytes_),
               [told = std::move(told), upload = upload_](Result<storage::Outcome> outcome) {
                 // Callbacks of commits run in the order of the commits, as CollectedBlobs::drop()
                 // requires.
                 if (outcome && is_taken(*outcome)) upload->named();
                 told(std::move(outcome));
               });
      });
  if (!result) return error_response(result.error());
  if (!is_taken(*result)) return error_response(refusal(*result));
  return json_response(result->applied == storage::Applied::applied ? 201 : 200, receipt());
}

}  // namespace hyperflock::http
