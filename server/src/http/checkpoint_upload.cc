#include "http/checkpoint_upload.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "http/await_commit.h"
#include "http/router.h"
#include "protocol/json_writer.h"
#include "protocol/names.h"

namespace hyperflock::http {
namespace {

// Both formats are zip archives, and begin like one.
constexpr std::string_view kArchive("PK\x03\x04", 4);
constexpr std::chrono::seconds kCommitTimeout{15};

Error ended() {
  return Error{"unknown_attempt", "The attempt has ended, or it is not this device's: drop it."};
}

class CheckpointUpload final : public Upload {
 public:
  CheckpointUpload(const SiteContext& context, std::string device, protocol::Checkpoint checkpoint,
                   std::unique_ptr<blobs::CheckpointStore::Upload> upload)
      : context_(context),
        device_(std::move(device)),
        checkpoint_(std::move(checkpoint)),
        upload_(std::move(upload)) {}

  Status append(std::string_view bytes) override {
    head_ += bytes.substr(0, kArchive.size() - std::min(kArchive.size(), head_.size()));
    if (!kArchive.starts_with(head_)) return malformed();
    checkpoint_.blob.bytes += static_cast<std::int64_t>(bytes.size());
    return upload_->append(std::as_bytes(std::span(bytes)));
  }

  Response finish() override {
    if (head_ != kArchive) return error_response(malformed());
    const auto stored = upload_->finish();
    if (!stored) return error_response(stored.error());
    const auto result = await_commit(
        kCommitTimeout,
        Error{"storage_unavailable", "The checkpoint was not committed in time: send it again."},
        [this](Committed told) {
          context_.service.store_checkpoint(
              device_, checkpoint_,
              [told = std::move(told), upload = upload_](Result<storage::Outcome> outcome) {
                // In the order of the commits: see CheckpointStore::drop().
                if (outcome && (outcome->applied == storage::Applied::applied ||
                                outcome->applied == storage::Applied::repeated)) {
                  upload->named();
                }
                told(std::move(outcome));
              });
        });
    if (!result) return error_response(result.error());
    switch (result->applied) {
      case storage::Applied::applied:
      case storage::Applied::repeated: {
        std::string out;
        protocol::ObjectWriter(out)
            .integer("attempt", to_int(checkpoint_.attempt))
            .text("sha256", checkpoint_.blob.sha256)
            .end();
        return json_response(result->applied == storage::Applied::applied ? 201 : 200,
                             std::move(out));
      }
      case storage::Applied::superseded:
      case storage::Applied::conflict:
        break;
    }
    return error_response(ended());
  }

 private:
  static Error malformed() {
    return Error{"checkpoint_malformed",
                 "A checkpoint is a zip archive of arrays: save a tree or an npz."};
  }

  const SiteContext& context_;
  const std::string device_;
  protocol::Checkpoint checkpoint_;
  // Shared with the commit's callback: its blob is not removed before that has run.
  std::shared_ptr<blobs::CheckpointStore::Upload> upload_;
  std::string head_;
};

}  // namespace

Result<std::unique_ptr<Upload>> open_checkpoint_upload(const SiteContext& context,
                                                       const Request& request) {
  const auto id = parse_integer(request.captures.at(0), kMaxWireInteger);
  const std::string& sha256 = request.captures.at(1);
  const auto format = protocol::from_name<protocol::CheckpointFormat>(
      query_value(request.query, "format").value_or(""));
  if (!format) return Error{"bad_field", "Give the format, tree or npz.", "format"};
  protocol::Checkpoint checkpoint{
      .attempt = AttemptId{id.value_or(0)}, .format = *format, .blob = {sha256, 0}, .step = {}};
  if (const auto text = query_value(request.query, "step")) {
    checkpoint.step = parse_integer(*text, kMaxWireInteger);
    if (!checkpoint.step) return Error{"bad_number", "A step is a whole number.", "step"};
  }
  const auto attempt = context.storage.attempt(checkpoint.attempt);
  if (!attempt) return attempt.error();
  if (!*attempt || (**attempt).device != request.device.id ||
      (**attempt).state != storage::AttemptState::live) {
    return ended();
  }
  const auto admitted = context.admission.admit_checkpoint(request.captures.at(0));
  if (!admitted) {
    return Error{"checkpoint_quota",
                 "The attempt saves checkpoints too often: save the next one later.",
                 {},
                 admitted.wait_s};
  }
  auto upload = context.checkpoints.begin(sha256);
  if (!upload) return upload.error();
  return std::unique_ptr<Upload>(std::make_unique<CheckpointUpload>(
      context, request.device.id, std::move(checkpoint), std::move(*upload)));
}

}  // namespace hyperflock::http
