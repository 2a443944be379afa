// What checkpoints and artifacts have in common on their way in (rest.md): the bytes become
// durable, then the row that names them, and the answer leaves after that commit. Runs on threads
// that may block.
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

// What an attempt that has ended, or is another device's, hears.
Error ended_attempt();

// Whether the attempt is live and the device's. REQUIRES: `request` carries a device's right.
// Errors: `unknown_attempt`, `storage_unavailable`.
Status live_attempt(const SiteContext& context, const Request& request, AttemptId attempt);

class AttemptUpload : public Upload {
 public:
  Status append(std::string_view bytes) final;
  Response finish() final;

 protected:
  // `most`: bytes that are taken; beyond them the upload ends with `too_large`.
  AttemptUpload(std::unique_ptr<blobs::CollectedBlobs::Upload> upload, std::uint64_t most,
                Error too_large)
      : upload_(std::move(upload)), most_(most), too_large_(std::move(too_large)) {}

  // Judges the bytes: as they come, before they are stored, and when all have come.
  virtual Status look(std::string_view) { return {}; }
  virtual Status look_at_end() const { return {}; }
  // Commits the row that names `bytes` bytes. `told` may be called on any thread.
  virtual void commit(std::int64_t bytes, hub::Committed told) = 0;
  // The body of an answer to an upload that was taken.
  virtual std::string receipt() const = 0;
  // Why the row was not taken.
  virtual Error refusal(const storage::Outcome&) const { return ended_attempt(); }

 private:
  // Shared with the commit's callback: its blob is not removed before that has run.
  const std::shared_ptr<blobs::CollectedBlobs::Upload> upload_;
  const std::uint64_t most_;
  const Error too_large_;
  std::uint64_t bytes_ = 0;
};

}  // namespace hyperflock::http
