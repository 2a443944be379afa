// See attempt_upload.h.
#include "http/compute/attempt_upload.h"

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

Status live_attempt(const SiteContext& context, const Request& request, AttemptId attempt) {
  TRY(const auto row, context.storage.attempt(attempt));
  if (!row || row->device != request.device.id || row->state != storage::AttemptState::live) {
    return ended_attempt();
  }
  return {};
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
