// Determines the packs of a study: packages that browsers fetch only for it (R76).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "http/core/site_context.h"
#include "protocol/messages.h"

namespace hyperflock::http {

// Returns the packs that the study's bundle names, with the server's versions. Reads the end of the
// bundle. REQUIRES: the bundle is stored, and the spec's runtime is chosen. Errors: those of
// choose_packs(). They name a field, which begins with `above`.
Result<std::vector<protocol::PackRef>> packs_of_study(const SiteContext& context,
                                                      const protocol::StudySpec& spec,
                                                      const std::string& above = {});

}  // namespace hyperflock::http
