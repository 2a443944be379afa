// Serves the compute origin: the join page, the runtime, joining, blobs for devices. See rest.md.
#pragma once

#include <memory>
#include <span>

#include "http/core/router.h"
#include "http/core/site.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

std::span<const Route> compute_routes();
std::unique_ptr<Site> make_compute_site(const SiteContext& context);

}  // namespace hyperflock::http
