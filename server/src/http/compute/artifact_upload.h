// An artifact on its way in: PUT /api/attempts/<attempt>/artifacts/<sha256> of rest.md. Runs on
// threads that may block.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "http/core/site_base.h"

namespace hyperflock::http {

Error artifact_too_large(const SiteContext& context);

// REQUIRES: `request` is of that route and carries a device's right.
Result<std::unique_ptr<Upload>> open_artifact_upload(const SiteContext& context,
                                                     const Request& request);

}  // namespace hyperflock::http
