// Says what devices have contributed, to the volunteers to whom they belong, and lets a device have
// a volunteer's passphrase (R81). Runs on threads that may block.
#pragma once

#include "base/result.h"
#include "http/core/message.h"
#include "http/core/router.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

// GET /api/device/contribution
Result<Response> contribution(const SiteContext& context, const Request& request);
// POST /api/passphrase
Result<Response> contribution_together(const SiteContext& context, const Request& request);
// POST /api/device/passphrase. The audit log does not name the device.
Status join_passphrase(const SiteContext& context, const Request& request, const Reply& reply);

}  // namespace hyperflock::http
