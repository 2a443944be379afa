// `hyperflock-server healthcheck`: requests a URL and reports whether the status was 200.
#pragma once

#include <string>

#include "base/instant.h"
#include "base/result.h"

namespace hyperflock::cli {

// Each network step takes at most `limit_ms`. A certificate is not verified: the check says whether
// the server answers, not who it is. Error: `unhealthy` with one sentence.
Status check_health(const std::string& url, Millis limit_ms);

}  // namespace hyperflock::cli
