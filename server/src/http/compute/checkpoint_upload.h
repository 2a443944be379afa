// A checkpoint on its way in: PUT /api/attempts/<attempt>/checkpoints/<sha256> of rest.md. Runs on
// threads that may block.
#pragma once

#include <memory>

#include "base/result.h"
#include "http/core/site_base.h"

namespace hyperflock::http {

Error checkpoint_too_large(const SiteContext& context);

// REQUIRES: `request` is of that route and carries a device's right.
Result<std::unique_ptr<Upload>> open_checkpoint_upload(const SiteContext& context,
                                                       const Request& request);

}  // namespace hyperflock::http
