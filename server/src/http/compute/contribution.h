// Says what a device has contributed: to the device itself, which shows it to its volunteer. Runs
// on threads that may block.
#pragma once

#include "base/result.h"
#include "http/core/message.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

// GET /api/device/contribution
Result<Response> contribution(const SiteContext& context, const Request& request);

}  // namespace hyperflock::http
