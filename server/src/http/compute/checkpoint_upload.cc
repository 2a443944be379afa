#include "http/compute/checkpoint_upload.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "http/compute/attempt_upload.h"
#include "http/core/router.h"
#include "protocol/json/json_writer.h"
#include "protocol/names.h"

namespace hyperflock::http {
namespace {

// Checkpoints of both formats (tree and npz) are zip archives, which begin with these bytes.
constexpr std::string_view kArchive("PK\x03\x04", 4);

Error checkpoint_too_large(const SiteContext& context) {
  return Error{"checkpoint_too_large", "A checkpoint may have at most " +
                                           std::to_string(context.max_checkpoint_bytes) +
                                           " bytes on this server: save less of the trial."};
}

class CheckpointUpload final : public AttemptUpload {
 public:
  CheckpointUpload(const SiteContext& context, storage::StoreCheckpoint store,
                   std::unique_ptr<blobs::CollectedBlobs::Upload> upload)
      : AttemptUpload(std::move(upload), context.max_checkpoint_bytes,
                      checkpoint_too_large(context)),
        hub_(context.hub),
        store_(std::move(store)) {}

 private:
  Status look(std::string_view bytes) override {
    head_ += bytes.substr(0, kArchive.size() - std::min(kArchive.size(), head_.size()));
    return kArchive.starts_with(head_) ? Status() : Status(malformed());
  }

  Status look_at_end() const override { return head_ == kArchive ? Status() : Status(malformed()); }

  void commit(std::int64_t bytes, hub::Committed told) override {
    store_.checkpoint.blob.bytes = bytes;
    hub_.store_checkpoint(store_, std::move(told));
  }

  std::string receipt() const override {
    std::string out;
    protocol::ObjectWriter(out)
        .integer("attempt", to_int(store_.checkpoint.attempt))
        .text("sha256", store_.checkpoint.blob.sha256)
        .end();
    return out;
  }

  static Error malformed() {
    return Error{"checkpoint_malformed",
                 "A checkpoint is a zip archive of arrays: save a tree or an npz."};
  }

  Hub& hub_;
  storage::StoreCheckpoint store_;
  std::string head_;
};

Result<std::optional<std::int64_t>> step_of(std::string_view query, std::string_view key) {
  const auto text = query_value(query, key);
  if (!text) return std::optional<std::int64_t>();
  const auto step = parse_integer(*text, kMaxWireInteger);
  if (!step) return Error{"bad_number", "A step is a whole number.", std::string(key)};
  return step;
}

Result<std::unique_ptr<Upload>> open_checkpoint(const SiteContext& context,
                                                const Request& request) {
  const auto id = parse_integer(request.captures.at(0), kMaxWireInteger);
  const std::string& sha256 = request.captures.at(1);
  const auto format = protocol::from_name<protocol::CheckpointFormat>(
      query_value(request.query, "format").value_or(""));
  if (!format) return Error{"bad_field", "Give the format, tree or npz.", "format"};
  protocol::Checkpoint checkpoint{
      .attempt = AttemptId{id.value_or(0)}, .format = *format, .blob = {sha256, 0}, .step = {}};
  TRY(checkpoint.step, step_of(request.query, "step"));
  TRY(checkpoint.logged, step_of(request.query, "logged"));
  TRY(const auto uploader, live_attempt(context, request, checkpoint.attempt));
  const std::int64_t room = room_of(context);
  TRY(check_bytes(context, request, checkpoint.attempt, storage::UploadKind::checkpoint, room));
  const auto admitted = context.admission.admit_checkpoint(uploader);
  if (!admitted) {
    return Error{"checkpoint_quota",
                 "The attempt, device or study saves too often: save the next checkpoint later.",
                 {},
                 admitted.wait_s};
  }
  TRY(auto upload, context.collected.begin(sha256));
  return std::unique_ptr<Upload>(std::make_unique<CheckpointUpload>(
      context, storage::StoreCheckpoint{request.device.id, std::move(checkpoint), room},
      std::move(upload)));
}

std::uint64_t checkpoint_limit(const SiteContext& context) { return context.max_checkpoint_bytes; }

}  // namespace

const UploadHandler kCheckpointUpload{checkpoint_limit, checkpoint_too_large, open_checkpoint};

}  // namespace hyperflock::http
