// `hyperflock-server healthcheck`: requests a URL and reports whether the status was 200.
#pragma once

#include <string>

#include "base/instant.h"
#include "base/result.h"

namespace hyperflock::cli {

// Each network step takes at most `limit_ms`. A certificate is not verified, because the check only
// finds out whether some server answers. Error: `unhealthy` with one sentence.
Status check_health(const std::string& url, Millis limit_ms);

}  // namespace hyperflock::cli
