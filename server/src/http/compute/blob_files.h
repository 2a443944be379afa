// Serves code and data of studies: to a device with its credential, and to anybody with a signed
// address (auth/blob_links.h), whose answers shared caches may store. Each blocks; any thread.
#pragma once

#include "base/result.h"
#include "http/core/message.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

// GET /api/blobs/<sha256>
Result<Response> blob(const SiteContext& context, const Request& request);
// GET /api/blobs/<sha256>/link
Result<Response> give_blob_link(const SiteContext& context, const Request& request);
// GET /blobs/<project>/<until>/<signature>/<sha256>
Result<Response> linked_blob(const SiteContext& context, const Request& request);

}  // namespace hyperflock::http
