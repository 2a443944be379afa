#include "http/compute/artifact_upload.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "http/compute/attempt_upload.h"
#include "http/core/router.h"
#include "protocol/json/json_writer.h"
#include "telemetry/utf8.h"

namespace hyperflock::http {
namespace {

constexpr std::size_t kLongestId = 64;
constexpr std::size_t kLongestName = 255;  // in bytes, as in file systems
constexpr std::size_t kLongestType = 127;
constexpr std::size_t kLongestStore = 255;

// Returns whether the text contains U+0000 to U+001F or U+007F to U+009F. REQUIRES: valid UTF-8.
bool has_control(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0) return true;
  }
  return false;
}

bool is_plain(std::string_view text) { return telemetry::is_utf8(text) && !has_control(text); }

bool is_id(std::string_view text) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return !text.empty() && text.size() <= kLongestId &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

bool is_file_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && is_plain(text) &&
         text.find_first_of("/\\") == std::string_view::npos && text != "." && text != "..";
}

bool is_type(std::string_view text) {
  return !text.empty() && text.size() <= kLongestType &&
         std::ranges::all_of(text, [](char c) { return c >= 0x20 && c <= 0x7e; });
}

bool is_store(std::string_view text) { return text.size() <= kLongestStore && is_plain(text); }

struct Field {
  std::string_view key;
  std::string storage::ArtifactRow::* value;
  bool (*is_right)(std::string_view);
  const char* wanted;
};

constexpr std::array<Field, 4> kFields{{
    {"id", &storage::ArtifactRow::id, is_id,
     "Give an id of 1 to 64 letters, digits, _ and -, which no other artifact of the attempt has."},
    {"name", &storage::ArtifactRow::name, is_file_name,
     "Give the file's name without its folder: 1 to 255 bytes of UTF-8 without control "
     "characters."},
    {"type", &storage::ArtifactRow::type, is_type,
     "Give the MIME type: 1 to 127 printable characters of ASCII."},
    {"store", &storage::ArtifactRow::store, is_store,
     "Give a store of at most 255 bytes of UTF-8 without control characters, or none."},
}};

Error artifact_too_large(const SiteContext& context) {
  return Error{"artifact_too_large", "An artifact may have at most " +
                                         std::to_string(context.max_artifact_bytes) +
                                         " bytes on this server: upload less."};
}

class ArtifactUpload final : public AttemptUpload {
 public:
  ArtifactUpload(const SiteContext& context, storage::StoreArtifact store,
                 std::unique_ptr<blobs::CollectedBlobs::Upload> upload)
      : AttemptUpload(std::move(upload), context.max_artifact_bytes, artifact_too_large(context)),
        hub_(context.hub),
        store_(std::move(store)) {}

 private:
  void commit(std::int64_t bytes, hub::Committed told) override {
    store_.artifact.blob.bytes = bytes;
    hub_.store_artifact(store_, std::move(told));
  }

  std::string receipt() const override {
    std::string out;
    protocol::ObjectWriter(out)
        .integer("attempt", to_int(store_.artifact.attempt))
        .text("id", store_.artifact.id)
        .text("sha256", store_.artifact.blob.sha256)
        .end();
    return out;
  }

  Error refusal(const storage::Outcome& outcome) const override {
    if (outcome.excess || outcome.refusal == storage::Refusal::device_share)
      return refused_bytes(outcome);
    if (!outcome.refusal) return ended_attempt();
    switch (*outcome.refusal) {
      case storage::Refusal::artifact_exists:
        return Error{"artifact_exists",
                     "The attempt has another artifact with this id: give a new one.", "id"};
      case storage::Refusal::artifact_count:
      case storage::Refusal::device_share:
      case storage::Refusal::passphrase_taken:  // this and the next ones: not of artifacts
      case storage::Refusal::quota:
      case storage::Refusal::series_count:
      case storage::Refusal::series_size:
      case storage::Refusal::space_changed:
      case storage::Refusal::too_many_devices:
        break;
    }
    return Error{"artifact_count", "An attempt may upload at most " +
                                       std::to_string(storage::kMostArtifacts) +
                                       " artifacts of 1 GiB together: upload less."};
  }

  Hub& hub_;
  storage::StoreArtifact store_;
};

Result<std::unique_ptr<Upload>> open_artifact(const SiteContext& context, const Request& request) {
  storage::StoreArtifact store{request.device.id, {}, room_of(context)};
  storage::ArtifactRow& artifact = store.artifact;
  const auto attempt = parse_integer(request.captures.at(0), kMaxWireInteger);
  artifact.attempt = AttemptId{attempt.value_or(0)};
  artifact.blob.sha256 = request.captures.at(1);
  for (const Field& field : kFields) {
    auto value = unescaped(query_value(request.query, field.key).value_or(""));
    if (!value || !field.is_right(*value))
      return Error{"bad_field", field.wanted, std::string(field.key)};
    artifact.*field.value = std::move(*value);
  }
  TRY(const auto uploader, live_attempt(context, request, artifact.attempt));
  TRY(check_bytes(context, request, artifact.attempt, storage::UploadKind::artifact, store.room));
  const auto admitted = context.admission.admit_artifact(uploader);
  if (!admitted) {
    return Error{"artifact_quota",
                 "The attempt, device or study uploads too often: upload the next artifact later.",
                 {},
                 admitted.wait_s};
  }
  TRY(auto upload, context.collected.begin(artifact.blob.sha256));
  return std::unique_ptr<Upload>(
      std::make_unique<ArtifactUpload>(context, std::move(store), std::move(upload)));
}

std::uint64_t artifact_limit(const SiteContext& context) { return context.max_artifact_bytes; }

}  // namespace

const UploadHandler kArtifactUpload{artifact_limit, artifact_too_large, open_artifact,
                                    "artifact_no_room"};

}  // namespace hyperflock::http
