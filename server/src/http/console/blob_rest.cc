// Stores the blobs that researchers upload: the code and data of their studies.
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "http/console/console_rest.h"
#include "hub/await_commit.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::http {
namespace {

using protocol::ObjectWriter;

class BlobUpload final : public Upload {
 public:
  BlobUpload(std::unique_ptr<blobs::CollectedBlobs::Upload> upload, Hub& hub, storage::OwnBlob own)
      : upload_(std::move(upload)), hub_(hub), own_(std::move(own)) {}

  Status append(std::string_view bytes) override {
    return upload_->append(std::as_bytes(std::span(bytes)));
  }

  Response finish() override {
    const auto stored = upload_->finish();
    if (!stored) return error_response(stored.error());
    own_.bytes = static_cast<std::int64_t>(stored->bytes);
    const Status owned = take_over();
    if (!owned) return error_response(owned.error());
    return object_response(stored->is_new ? 201 : 200,
                           [this](ObjectWriter& body) { body.text("sha256", own_.sha256); });
  }

 private:
  // Counts the blob in the quota of the researcher who uploaded it. Waits for the commit.
  Status take_over() const {
    constexpr std::chrono::seconds kPatience{5};
    const auto begin = [this](const hub::Committed& done) {
      hub_.commit({own_}, [done, upload = upload_](const Result<storage::Outcome>& outcome) {
        // Callbacks of commits run in the order of the commits, as CollectedBlobs::drop() requires.
        if (outcome && !outcome->excess) upload->named();
        done(outcome);
      });
    };
    const Error late{"storage_unavailable", "The server is about to stop; upload the blob again."};
    TRY(const auto got, hub::await_commit(kPatience, late, begin));
    if (got.excess) return storage::quota_error(*got.excess);
    return {};
  }

  // The commit's callback shares this object, so the blob stays until the callback has run.
  const std::shared_ptr<blobs::CollectedBlobs::Upload> upload_;
  Hub& hub_;
  storage::OwnBlob own_;
};

Result<Response> head_blob(const SiteContext& context, const Request& request) {
  if (context.blobs.exists(request.captures.front())) return json_response(200, "");
  return error_response(404, Error{"unknown_blob", "This server has no such blob; upload it."});
}

std::uint64_t max_bytes(const SiteContext& context) { return context.max_blob_bytes; }

Error too_large(const SiteContext& context) {
  return Error{"blob_too_large", "A blob may have at most " +
                                     std::to_string(context.max_blob_bytes) +
                                     " bytes on this server."};
}

Result<std::unique_ptr<Upload>> open_upload(const SiteContext& context, const Request& request) {
  storage::OwnBlob own{request.principal.name, request.captures.front(), 0,
                       quota_of(request.principal)};
  // The quota is checked before the body is read. A blob that exists may already count for the
  // caller, so for such a blob only the commit decides.
  if (own.quota.bytes > 0 && !context.blobs.exists(own.sha256)) {
    TRY(const auto used, context.storage.usage(own.owner));
    const auto bytes = static_cast<std::int64_t>(request.content_length.value_or(0));
    if (const auto excess = storage::excess_of(own.quota, used, {0, 0, bytes}))
      return storage::quota_error(*excess);
  }
  TRY(auto upload, context.blobs.begin(own.sha256));
  return std::unique_ptr<Upload>(
      std::make_unique<BlobUpload>(std::move(upload), context.hub, std::move(own)));
}

constexpr UploadHandler kUpload{max_bytes, too_large, open_upload};

constexpr std::array<Route, 2> kBlobRoutes{{
    {Method::head, "/api/blobs/{}", Access::principal, answer<head_blob>},
    {Method::put, "/api/blobs/{}", Access::principal, nullptr, 0, &kUpload},
}};

}  // namespace

std::span<const Route> blob_routes() { return kBlobRoutes; }

}  // namespace hyperflock::http
