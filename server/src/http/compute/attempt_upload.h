// The common part of uploads of checkpoints and artifacts (rest.md). The bytes become durable
// first, then the row that names them; the answer is sent after that commit. Runs on threads that
// may block.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/core/site.h"
#include "http/core/site_context.h"
#include "hub/await_commit.h"

namespace hyperflock::http {

// Returns the error for an attempt that has ended or belongs to another device.
Error ended_attempt();

// Returns the attempt, device and study of an upload, if the attempt is live and belongs to the
// device that sent the request. REQUIRES: the request has a device's credential. Errors:
// `unknown_attempt`, `storage_unavailable`.
Result<Admission::Uploader> live_attempt(const SiteContext& context, const Request& request,
                                         AttemptId attempt);

// Returns how many bytes the server can still store in files.
std::int64_t room_of(const SiteContext& context);

// Checks, before the body is read, what the commit checks again: the quota of the study's owner and
// the device's share of it. Errors: `quota_exceeded`, `device_share`, `storage_unavailable`.
Status check_bytes(const SiteContext& context, const Request& request, AttemptId attempt,
                   storage::UploadKind kind, std::int64_t room);

// Returns the error for an outcome with which storage refused an upload.
Error refused_bytes(const storage::Outcome& outcome);

class AttemptUpload : public Upload {
 public:
  Status append(std::string_view bytes) final;
  Response finish() final;

 protected:
  // `most` is the limit in bytes. A larger upload ends with `too_large`.
  AttemptUpload(std::unique_ptr<blobs::CollectedBlobs::Upload> upload, std::uint64_t most,
                Error too_large)
      : upload_(std::move(upload)), most_(most), too_large_(std::move(too_large)) {}

  // Checks a piece of the bytes before it is stored.
  virtual Status look(std::string_view) { return {}; }
  virtual Status look_at_end() const { return {}; }
  // Commits the row that names the blob of `bytes` bytes. `told` may be called on any thread.
  virtual void commit(std::int64_t bytes, hub::Committed told) = 0;
  // Returns the body of the answer to a successful upload.
  virtual std::string receipt() const = 0;
  // Returns the error for an outcome with which storage refused the row.
  virtual Error refusal(const storage::Outcome& outcome) const { return refused_bytes(outcome); }

 private:
  // The commit's callback shares this object, so that the blob is not removed before the callback
  // has run.
  const std::shared_ptr<blobs::CollectedBlobs::Upload> upload_;
  const std::uint64_t most_;
  const Error too_large_;
  std::uint64_t bytes_ = 0;
};

}  // namespace hyperflock::http
