// Writes small files such as those with secrets. Any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace hyperflock::auth {

// Writes the file and makes it durable. Readers see the old file or the complete new one, even
// after a crash. `mode` has its permissions. Returns 0, or the errno of what failed; then the old
// file stays.
[[nodiscard]] int replace_file(const std::string& path, std::string_view text, mode_t mode);

}  // namespace hyperflock::auth
