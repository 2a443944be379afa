// The console origin: the researcher's page, REST for researchers and operators, health, metrics.
// See rest.md.
#pragma once

#include <memory>

#include "http/compute_site.h"

namespace hyperflock::http {

std::unique_ptr<Site> make_console_site(const SiteContext& context);

}  // namespace hyperflock::http
