// A checkpoint on its way in: PUT /api/attempts/<attempt>/checkpoints/<sha256> of rest.md. The
// answer leaves after the commit. Runs on threads that may block.
#pragma once

#include <memory>

#include "base/result.h"
#include "http/compute_site.h"

namespace hyperflock::http {

// REQUIRES: `request` is of that route and carries a device's right.
Result<std::unique_ptr<Upload>> open_checkpoint_upload(const SiteContext& context,
                                                       const Request& request);

}  // namespace hyperflock::http
