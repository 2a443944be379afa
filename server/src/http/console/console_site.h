// Serves the console origin: the researcher's page, REST for researchers and operators, health and
// metrics. See rest.md.
#pragma once

#include <memory>
#include <span>

#include "http/core/router.h"
#include "http/core/site.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

std::span<const Route> console_routes();
std::unique_ptr<Site> make_console_site(const SiteContext& context);

}  // namespace hyperflock::http
