// Says what a browser has to download for a project's studies, so that the join page can name the
// bytes before Start (rest.md). Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages.h"
#include "protocol/runtime/packs.h"
#include "protocol/runtime/runtime_index.h"

namespace hyperflock::http {

// The form in which files of the runtime reach the browser.
enum class Compression { brotli, gzip };

// A page learns about at most so many studies of its project, the newest.
inline constexpr std::int64_t kShownDownloads = 4;

// Returns the JSON object `downloads`. `runtimes` are the server's, the newest first, and `packs`
// those that it serves. A study whose runtime the server does not have is left out.
std::string downloads_json(const std::vector<protocol::StudySpec>& studies,
                           const std::vector<protocol::Runtime>& runtimes,
                           const protocol::PackList& packs, Compression form);

}  // namespace hyperflock::http
